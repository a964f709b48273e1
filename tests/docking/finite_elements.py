"""Small models of finite elements in NumPy and SciPy: a frame of beams and a plate, each node with six displacements."""

import numpy as np
from scipy.sparse import coo_matrix


def beam_element(length, area, bending, torsion, young, shear, density):
    """Stiffness and consistent mass of a beam along x: six displacements at each end (Przemieniecki 1968, sections 5.6, 11.4)."""
    k, m = np.zeros((12, 12)), np.zeros((12, 12))
    ax, tw = young * area / length, shear * torsion / length
    for at, stiff, whole in ((0, ax, density * area * length), (3, tw, density * 2 * bending * length)):
        pair = np.ix_([at, at + 6], [at, at + 6])
        k[pair] += stiff * np.array([[1, -1], [-1, 1]])
        m[pair] += whole / 6 * np.array([[2, 1], [1, 2]])
    ei, n, mass = young * bending, length, density * area * length
    bend = ei / n**3 * np.array([[12, 6 * n, -12, 6 * n], [6 * n, 4 * n * n, -6 * n, 2 * n * n],
                                 [-12, -6 * n, 12, -6 * n], [6 * n, 2 * n * n, -6 * n, 4 * n * n]])
    carry = mass / 420 * np.array([[156, 22 * n, 54, -13 * n], [22 * n, 4 * n * n, 13 * n, -3 * n * n],
                                   [54, 13 * n, 156, -22 * n], [-13 * n, -3 * n * n, -22 * n, 4 * n * n]])
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
