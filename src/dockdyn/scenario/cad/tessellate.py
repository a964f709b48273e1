"""Turn a CAD file into triangles, as a process of its own: kind, tolerance (mm), memory (bytes) and processor time (s) are its
arguments, the file comes in, glTF goes out.

Units: as above; glTF is in m.
Source: Open CASCADE, by cascadio; it comes with the extra `cad`.
"""

# Nothing of the package is imported here: the process has to begin quickly, and what breaks in it breaks it alone.
import os
import sys

TURN = 0.3  # rad, between triangles on a curved face


def limit_process(memory: int, seconds: int) -> None:
    """Let the system end this process where it takes more memory (bytes) or processor time (s); none does under Windows."""
    try:
        import resource
    except ImportError:  # of Windows, where the parent's wait is the limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Read the file from the input, write it tessellated to the output; nothing where it is no such file."""
    kind, tolerance, memory, seconds = sys.argv[1:]
    out = os.dup(1)
    os.dup2(2, 1)  # the kernel prints what it does
    limit_process(int(memory), int(seconds))
    import cascadio

    content = sys.stdin.buffer.read()
    found = cascadio.load(content, "iges" if kind == "iges" else "step", float(tolerance), TURN, include_brep=True)
    with os.fdopen(out, "wb") as file:
        file.write(found)


if __name__ == "__main__":
    main()
