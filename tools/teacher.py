"""Ask for a teacher's secret and print what the server is started with: its salted hash.

python -m tools.teacher
"""

import sys
from getpass import getpass

from attention_lab.pages.shared.teachers import HASH, hashed


def main() -> None:
    secret = getpass("Secret: ")
    if getpass("Again: ") != secret:
        sys.exit("these were two secrets; run make teacher again")
    try:
        print(f"{HASH}={hashed(secret)}")
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
