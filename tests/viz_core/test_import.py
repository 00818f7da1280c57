import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = ["torch", "streamlit", "pandas", "plotly.express", "models"]


def test_importing_the_figures_imports_nothing_heavy():
    code = f"import sys, viz_core; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
