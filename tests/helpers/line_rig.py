"""A rig on a line: a body that a robot carries, called target, before a wall; they meet in the contact spring."""

HEAD = """
schema = 2
motion = "line"
rig.carries = "target"
rig.against = "wall"
body.wall.fixed = true
contact.spring.between = ["target", "wall"]
"""  # of a file in which nothing stands before


def line_rig(mass, normal, velocity=0.0, position=0.0, bilateral=False, **tables):
    """Its tables, from the mass of the body (kg), the normal law and where and how fast it begins (m, m/s)."""
    return {
        "schema": 2,
        "motion": "line",
        "duration": 60.0,
        "rig": {"carries": "target", "against": "wall"},
        "body": {"target": {"mass": mass, "position": position, "velocity": velocity}, "wall": {"fixed": True}},
        "contact": {"spring": {"between": ["target", "wall"], "bilateral": bilateral, "normal": normal}},
        **tables,
    }
