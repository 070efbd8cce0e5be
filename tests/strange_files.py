"""What may lie where a file of ours belongs: how it is put there, beside what must not be touched."""

import os

STRANGE = {
    "link": lambda path, victim: path.symlink_to(victim),
    "dangling link": lambda path, victim: path.symlink_to(victim.with_name("nobody")),
    "folder": lambda path, victim: path.mkdir(),
    "pipe": lambda path, victim: os.mkfifo(path),
}
