"""Small models of finite elements in NumPy and SciPy: a frame of beams and a plate, each node with six displacements."""

import numpy as np
from scipy.sparse import coo_matrix


def beam_element(length, area, bending, torsion, young, shear, density):
    """Stiffness and consistent mass of a beam along x, six displacements an end (Przemieniecki 1968, sections 5.6, 11.4)."""
    k, m = np.zeros((12, 12)), np.zeros((12, 12))
    ax, tw = young * area / length, shear * torsion / length
    for at, stiff, whole in ((0, ax, density * area * length), (3, tw, density * 2 * bending * length)):
        pair = np.ix_([at, at + 6], [at, at + 6])
        k[pair] += stiff * np.array([[1, -1], [-1, 1]])
        m[pair] += whole / 6 * np.array([[2, 1], [1, 2]])
    ei, n, mass = young * bending, length, density * area * length
    bend = (
        ei
        / n**3
        * np.array(
            [
                [12, 6 * n, -12, 6 * n],
                [6 * n, 4 * n * n, -6 * n, 2 * n * n],
                [-12, -6 * n, 12, -6 * n],
                [6 * n, 2 * n * n, -6 * n, 4 * n * n],
            ]
        )
    )
    carry = (
        mass
        / 420
        * np.array(
            [
                [156, 22 * n, 54, -13 * n],
                [22 * n, 4 * n * n, 13 * n, -3 * n * n],
                [54, 13 * n, 156, -22 * n],
                [-13 * n, -3 * n * n, -22 * n, 4 * n * n],
            ]
        )
    )
    for rows, sign in (([1, 5, 7, 11], 1), ([2, 4, 8, 10], -1)):
        turn = np.diag([1, sign, 1, sign])
        k[np.ix_(rows, rows)] += turn @ bend @ turn
        m[np.ix_(rows, rows)] += turn @ carry @ turn
    return k, m


def assembled(size, elements):
    """Sparse mass and stiffness of elements, each its rows, stiffness and mass."""
    rows, columns, ks, ms = [], [], [], []
    for at, k, m in elements:
        i, j = np.meshgrid(at, at, indexing="ij")
        rows.append(i.ravel())
        columns.append(j.ravel())
        ks.append(k.ravel())
        ms.append(m.ravel())
    at = np.concatenate(rows), np.concatenate(columns)
    return tuple(coo_matrix((np.concatenate(part), at), shape=(size, size)).tocsc() for part in (ms, ks))


def frame_model(nodes, bars, radius=0.03, wall=0.002, young=70e9, poisson=0.33, density=2700.0, lumps=()):
    """A frame of thin tubes between nodes (m), with lumps (node, kg, kg m²): sparse mass and stiffness."""
    area, bending = 2 * np.pi * radius * wall, np.pi * radius**3 * wall
    elements = []
    for one, other in bars:
        along = nodes[other] - nodes[one]
        length = np.linalg.norm(along)
        x = along / length
        y = np.cross([0.0, 0.0, 1.0] if abs(x[2]) < 0.9 else [0.0, 1.0, 0.0], x)
        y /= np.linalg.norm(y)
        turn = np.kron(np.eye(4), np.stack([x, y, np.cross(x, y)]))
        k, m = beam_element(length, area, bending, 2 * bending, young, young / (2 * (1 + poisson)), density)
        at = np.concatenate([6 * one + np.arange(6), 6 * other + np.arange(6)])
        elements.append((at, turn.T @ k @ turn, turn.T @ m @ turn))
    for node, mass, inertia in lumps:
        lump = np.diag([mass] * 3 + [inertia] * 3)
        elements.append((6 * node + np.arange(6), np.zeros((6, 6)), lump))
    return assembled(6 * len(nodes), elements)


def boom(count, length, start=0.0):
    """Nodes and bars of a straight boom along x."""
    nodes = np.zeros((count + 1, 3))
    nodes[:, 0] = start + np.linspace(0, length, count + 1)
    return nodes, [(one, one + 1) for one in range(count)]


def mass_properties(mass, nodes):
    """Mass (kg), centre (m) and inertia about it (kg m²) of a model of such nodes."""
    rigid = np.zeros((len(nodes), 6, 6))
    rigid[:, :3, :3] = rigid[:, 3:, 3:] = np.eye(3)
    for axis in range(3):
        rigid[:, :3, 3 + axis] = np.cross(np.eye(3)[axis], nodes)
    rigid = rigid.reshape(-1, 6)
    whole = rigid.T @ (mass @ rigid)
    total = whole[0, 0]
    centre = np.array([whole[1, 5], whole[2, 3], whole[0, 4]]) / total
    about = whole[3:, 3:] - total * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return float(total), centre, (about + about.T) / 2


def craig_bampton(mass, stiffness, kept, modes):
    """Reduce a model to the displacements in `kept`, with so many modes of what they hold: mass, stiffness and the basis."""
    size = mass.shape[0]
    m, k = np.asarray(mass.todense()), np.asarray(stiffness.todense())
    inner = np.setdiff1d(np.arange(size), kept)
    ki, mi = k[np.ix_(inner, inner)], m[np.ix_(inner, inner)]
    from scipy.linalg import eigh

    squares, shapes = eigh(ki, mi, subset_by_index=[0, modes - 1])
    basis = np.zeros((size, len(kept) + modes))
    basis[kept, : len(kept)] = np.eye(len(kept))
    basis[inner, : len(kept)] = -np.linalg.solve(ki, k[np.ix_(inner, kept)])
    basis[inner, len(kept) :] = shapes
    return basis.T @ m @ basis, basis.T @ k @ basis, basis, squares


GAUSS = [(x, y) for x in (-(0.6**0.5), 0.0, 0.6**0.5) for y in (-(0.6**0.5), 0.0, 0.6**0.5)]
WEIGHTS = [a * b for a in (5 / 9, 8 / 9, 5 / 9) for b in (5 / 9, 8 / 9, 5 / 9)]


def _bending_terms(x, y):
    """The 12 polynomials of a plate's deflection, their slopes and curvatures."""
    powers = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3), (3, 1), (1, 3)]

    def of(dx, dy):
        found = []
        for p, q in powers:
            scale = np.prod(range(p - dx + 1, p + 1)) * np.prod(range(q - dy + 1, q + 1))
            found.append(0.0 if p < dx or q < dy else scale * x ** (p - dx) * y ** (q - dy))
        return np.array(found)

    return of(0, 0), of(1, 0), of(0, 1), np.stack([of(2, 0), of(0, 2), 2 * of(1, 1)])


def plate_element(a, b, thickness, young, poisson, density):
    """Stiffness and mass of a rectangle a × b in the x–y plane, corners counter-clockwise, six displacements each.

    Bending by Melosh's polynomials of 12 terms, membrane bilinear, turning about z tied to it (Zienkiewicz and Taylor).
    """
    corners = [(-a / 2, -b / 2), (a / 2, -b / 2), (a / 2, b / 2), (-a / 2, b / 2)]
    plane = young / (1 - poisson**2) * np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]])
    rows = []
    for x, y in corners:
        w, wx, wy, _ = _bending_terms(x, y)
        rows += [w, wy, -wx]  # w, turn about x, about y
    inverse = np.linalg.inv(np.array(rows))
    bent = np.array([6 * c + k for c in range(4) for k in (2, 3, 4)])
    flat = np.array([6 * c + k for c in range(4) for k in (0, 1)])
    drill = np.array([6 * c + 5 for c in range(4)])
    k, m = np.zeros((24, 24)), np.zeros((24, 24))
    for (r, s), weight in zip(GAUSS, WEIGHTS, strict=True):
        dv = weight * a * b / 4
        w, _, _, curved = _bending_terms(r * a / 2, s * b / 2)
        curved, w = curved @ inverse, w @ inverse
        k[np.ix_(bent, bent)] += dv * thickness**3 / 12 * curved.T @ plane @ curved
        m[np.ix_(bent, bent)] += dv * density * thickness * np.outer(w, w)
        n = np.array([(1 + r * np.sign(x)) * (1 + s * np.sign(y)) / 4 for x, y in corners])
        nx = np.array([np.sign(x) * (1 + s * np.sign(y)) / (2 * a) for x, y in corners])
        ny = np.array([(1 + r * np.sign(x)) * np.sign(y) / (2 * b) for x, y in corners])
        strain, turn = np.zeros((3, 8)), np.zeros(8)
        strain[0, 0::2], strain[1, 1::2], strain[2, 0::2], strain[2, 1::2] = nx, ny, ny, nx
        turn[0::2], turn[1::2] = -ny / 2, nx / 2
        k[np.ix_(flat, flat)] += dv * thickness * strain.T @ plane @ strain
        tied = np.zeros(24)
        tied[flat], tied[drill] = -turn, n
        k += dv * thickness * plane[2, 2] * np.outer(tied, tied)
        for at in (flat[0::2], flat[1::2]):
            m[np.ix_(at, at)] += dv * density * thickness * np.outer(n, n)
        m[np.ix_(drill, drill)] += dv * density * thickness**3 / 12 * np.outer(n, n)
    return k, m


def plate_model(across, up, width, height, thickness=0.02, young=70e9, poisson=0.33, density=2700.0):
    """A plate of across × up rectangles about the origin in the x–y plane: sparse mass and stiffness, and nodes (m)."""
    xs, ys = np.linspace(-width / 2, width / 2, across + 1), np.linspace(-height / 2, height / 2, up + 1)
    nodes = np.array([[x, y, 0.0] for y in ys for x in xs])
    k, m = plate_element(width / across, height / up, thickness, young, poisson, density)
    elements = []
    for j in range(up):
        for i in range(across):
            one = j * (across + 1) + i
            at = np.concatenate(
                [6 * node + np.arange(6) for node in (one, one + 1, one + across + 2, one + across + 1)]
            )
            elements.append((at, k, m))
    mass, stiffness = assembled(6 * len(nodes), elements)
    return mass, stiffness, nodes


def turned(mass, stiffness, nodes, turn):
    """The same model with its axes turned."""
    from scipy.sparse import identity, kron

    whole = kron(identity(2 * len(nodes)), turn).tocsr()
    return (whole @ mass @ whole.T).tocsc(), (whole @ stiffness @ whole.T).tocsc(), nodes @ turn.T
