"""What seems to be meant for a chapter; the run of the command is tested in test_running."""

from pathlib import Path

from grader.cli.misfiled import misfiled
from grader.course import Course


def test_a_folder_that_cannot_be_read_stops_nobody(tmp_path, monkeypatch):
    for place in ("solutions/01_sum", "submitted/ann/01_sums", "submitted/bob/01_sums"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "solutions/01_sum/01_sum.md").touch()
    listed = Path.iterdir

    def refusing(path):
        if path.name == "ann":
            raise PermissionError
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refusing)
    course = Course(tmp_path)
    (told,) = misfiled(course, course.chapters)
    assert "submitted/bob/01_sums" in told
