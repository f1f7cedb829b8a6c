"""What a learner has solved, and how many hints they took: one small JSON file."""

import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Progress"]

VERSION = 1


@dataclass
class Progress:
    """Read with `load`, changed, and written with `save`."""

    path: Path
    solved: dict[str, str] = field(default_factory=dict)
    """Exercises by name, with the day on which they first passed."""
    hints: dict[str, int] = field(default_factory=dict)
    """How many hints were shown."""
    current: str = ""
    """The exercise that was started or checked last."""
    other: dict[str, Any] = field(default_factory=dict)
    """What a newer version has written; kept as it is."""
    trouble: str = ""
    """Why an existing file was put aside."""

    @classmethod
    def load(cls, path: Path | None = None) -> "Progress":
        """Read the file; one that cannot be understood is put aside, not overwritten."""
        if path is None:
            import platformdirs

            path = platformdirs.user_data_path("customgrad", appauthor=False) / "exercises.json"
        progress = cls(path)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            progress.solved = {str(k): str(v) for k, v in data.pop("solved", {}).items()}
            progress.hints = {str(k): int(v) for k, v in data.pop("hints", {}).items()}
            progress.current = str(data.pop("current", ""))
            progress.other = {k: v for k, v in data.items() if k != "version"}
        except FileNotFoundError:
            pass
        except OSError as error:
            progress.trouble = f"progress cannot be read from {path}: {error.strerror}"
        except (ValueError, AttributeError, TypeError):
            aside = path.with_suffix(".broken.json")
            path.replace(aside)
            progress = cls(path)
            progress.trouble = (
                f"{path} was no progress file; it is now {aside.name}, and a new one begins"
            )
        return progress

    def save(self) -> str:
        """Write the file as a whole, or leave the old one; return "" or why it could not be written."""
        data = {
            **self.other,
            "version": VERSION,
            "solved": self.solved,
            "hints": self.hints,
            "current": self.current,
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".exercises-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(data, file, indent=1)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(name, self.path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError as error:
            return f"progress cannot be written to {self.path}: {error.strerror}"
        return ""
