"""Find parts of a result's document, whatever section they are in."""


def parts(container):
    """Yield all parts of a document, with those of inner sections."""
    for part in getattr(container, "sections", None) or getattr(container, "items", ()):
        if part is not None:
            yield part
            yield from parts(part)


def parts_of(result, kind, **named):
    """Return the parts of a kind that a result shows."""
    return [
        part
        for part in parts(result.to_document())
        if type(part).__name__ == kind and all(getattr(part, k) == v for k, v in named.items())
    ]


def part_of(result, kind, **named):
    """Return the one part of its kind that a result shows."""
    (part,) = parts_of(result, kind, **named)
    return part


def table_of(result, table_id):
    """Return a table that a result shows, by its name."""
    return part_of(result, "Table", id=table_id)
