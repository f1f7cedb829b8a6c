"""Builds the site strictly: `python -m sitetools.build`, what `make site` runs.

The build goes to a folder of its own and becomes `site/` only when it has passed, so that a failed build
publishes nothing and leaves the last good one where it is.
"""

import shutil
import subprocess
import sys

from sitetools.pages import ROOT

SITE = ROOT / "site"
STAGED = ROOT / ".cache" / "site"


def main() -> int:
    """Build, and put the result in place; return the exit code of the build."""
    shutil.rmtree(STAGED, ignore_errors=True)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(STAGED)]
    code = subprocess.call(command, cwd=ROOT)
    if code:
        shutil.rmtree(STAGED, ignore_errors=True)
        print("site: the build failed; site/ was left as it was", file=sys.stderr)
        return code
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.move(STAGED, SITE)
    print(f"site: {sum(1 for _ in SITE.rglob('index.html'))} pages in site/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
