/* The contract fits anywidget's model and its render; checked by the compiler, never run. */

import type { AnyModel, Render as NotebookRender } from "@anywidget/types";
import { addressBar, hostedBy } from "../../../viz_core/viewer/browser/page.js";
import { rendering } from "../../../viz_core/viewer/browser/rendering.js";
import type { Model, Page, Render } from "../../../viz_core/viewer/contract";

declare const el: HTMLElement;
declare const notebook: AnyModel<{ message: DataView; state: Record<string, unknown> | null }>;
declare const render: Render;

export const model: Model = notebook;
export const leave: () => void = render({ model: notebook, el });
export const widget: NotebookRender<{ message: DataView; state: Record<string, unknown> | null }> = render;
hostedBy({ ...addressBar, keys: () => window } satisfies Partial<Page>);

// @ts-expect-error: an act has a type
notebook satisfies Model & { send(act: { by: number }): void } ? 0 : model.send({ by: 1 });
// @ts-expect-error: a view has to leave
rendering(class { receive() {} });
// @ts-expect-error: nothing else is heard
model.on("change:frame", () => {});
// @ts-expect-error: no page says this
hostedBy({ colour: "red" });
