"""The variables that jobs inherit."""

from pathlib import Path

from corpusmill.run.job_environment import MALLOC, job_environment


def test_job_environment__keeps_freed_memory(monkeypatch):
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    for name in MALLOC:
        monkeypatch.delenv(name, raising=False)
    assert MALLOC.items() <= job_environment(Path("home"), Path("root"), False).items()


def test_job_environment__leaves_the_users_settings_of_malloc(monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    assert MALLOC.keys().isdisjoint(job_environment(Path("home"), Path("root"), False))
