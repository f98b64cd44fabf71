// What the page begins with: for each kind of diagram, what there can be (Domain), what there is
// (Substance), and how it looks (Style). Each is a program in one of Penrose's three languages.

/** @typedef {{ domain: string, substance: string, style: string }} Trio */

/** @type {Record<string, Trio>} */
export const TRIOS = {
  sets: {
    domain: `type Set
type Thing

predicate Subset(Set inner, Set outer)
symmetric predicate Disjoint(Set a, Set b)
symmetric predicate Overlap(Set a, Set b)
predicate In(Thing x, Set s)
predicate NotIn(Thing x, Set s)`,

    substance: `Set Animals, Birds, Mammals, Fliers
Thing penguin, bat, sparrow

Subset(Birds, Animals)
Subset(Mammals, Animals)
Disjoint(Birds, Mammals)
Overlap(Fliers, Animals)
Overlap(Fliers, Birds)
Overlap(Fliers, Mammals)

In(penguin, Birds)
NotIn(penguin, Fliers)
In(sparrow, Birds)
In(sparrow, Fliers)
In(bat, Mammals)
In(bat, Fliers)

AutoLabel All`,

    style: `canvas {
  width = 520
  height = 360
}

forall Set s {
  shape s.icon = Circle {
    fillColor: rgba(0.29, 0.54, 0.77, 0.16)
    strokeColor: #4a8ac4
    strokeWidth: 1.5
  }
  shape s.text = Text {
    string: s.label
    fontSize: "16px"
  }
  ensure greaterThan(s.icon.r, 34)
  ensure contains(s.icon, s.text, 4)
  encourage sameCenter(s.text, s.icon)
  layer s.text above s.icon
}

forall Set a; Set b
where Subset(a, b) {
  ensure contains(b.icon, a.icon, 6)
  ensure disjoint(b.text, a.icon, 4)
}

forall Set a; Set b
where Disjoint(a, b) {
  ensure disjoint(a.icon, b.icon, 8)
}

forall Set a; Set b
where Overlap(a, b) {
  ensure overlapping(a.icon, b.icon, 20)
  ensure disjoint(a.text, b.icon, 2)
  ensure disjoint(b.text, a.icon, 2)
}

forall Set a; Set b {
  ensure disjoint(a.text, b.text, 4)
}

forall Thing x {
  shape x.icon = Circle {
    r: 4
    fillColor: #d9487d
  }
  shape x.text = Text {
    string: x.label
    fontSize: "13px"
    fontStyle: "italic"
  }
  ensure lessThan(vdist(x.text.center, x.icon.center), 24)
  ensure disjoint(x.text, x.icon, 3)
}

forall Thing x; Set s
where In(x, s) {
  ensure contains(s.icon, x.icon, 10)
}

forall Thing x; Set s
where NotIn(x, s) {
  ensure disjoint(s.icon, x.icon, 6)
}

forall Thing x; Set s {
  ensure disjoint(s.text, x.text, 4)
  ensure disjoint(s.text, x.icon, 4)
}

forall Thing x; Thing y {
  ensure disjoint(x.text, y.text, 3)
  ensure disjoint(x.icon, y.text, 3)
  ensure disjoint(x.text, y.icon, 3)
}`,
  },

  graph: {
    domain: `type Node
symmetric predicate Edge(Node a, Node b)`,

    substance: `Node v_i for i in [0, 7]

-- the corners and edges of a cube
Edge(v_i, v_j) for i in [0, 7], j in [0, 7] where j == i + 1 && i % 2 == 0
Edge(v_i, v_j) for i in [0, 7], j in [0, 7] where j == i + 2 && i % 4 < 2
Edge(v_i, v_j) for i in [0, 7], j in [0, 7] where j == i + 4

AutoLabel All`,

    style: `canvas {
  width = 520
  height = 360
}

forall Node v {
  shape v.icon = Circle {
    r: 16
    fillColor: rgba(0.29, 0.54, 0.77, 0.25)
    strokeColor: #4a8ac4
    strokeWidth: 1.5
  }
  shape v.text = Text {
    center: v.icon.center
    string: v.label
    fontSize: "13px"
  }
}

-- all push each other away
forall Node u; Node v {
  scalar d = vdist(u.icon.center, v.icon.center)
  ensure greaterThan(d, 50)
  encourage minimal(2000000 / d)
}

-- edges are springs
forall Node u; Node v
where Edge(u, v) as e {
  vec2 way = unit(v.icon.center - u.icon.center)
  shape e.line = Line {
    start: u.icon.center + 16 * way
    end: v.icon.center - 16 * way
    strokeColor: #8a8084
    strokeWidth: 1.5
  }
  encourage equal(vdist(u.icon.center, v.icon.center), 90)
}`,
  },

  triangle: {
    domain: `type Point
type Triangle
constructor Corners(Point p, Point q, Point r) -> Triangle

predicate RightAngle(Point p, Point at, Point q)
predicate Midpoint(Point m, Point p, Point q)
predicate Circumcircle(Triangle t)
predicate Incircle(Triangle t)`,

    substance: `Point A, B, C, M
Triangle t := Corners(A, B, C)

RightAngle(A, C, B)
Midpoint(M, A, B)
Circumcircle(t)
Incircle(t)

AutoLabel A, B, C, M`,

    style: `canvas {
  width = 520
  height = 360
}

forall Point p {
  vec2 p.at = (?, ?)
  shape p.icon = Circle {
    center: p.at
    r: 4
    fillColor: #000000
  }
  shape p.text = Text {
    string: p.label
    fontSize: "17px"
    fontStyle: "italic"
  }
  ensure equal(vdist(p.text.center, p.at), 17)
}

forall Point p; Point q {
  ensure disjoint(p.text, q.icon, 4)
}

forall Triangle t; Point p; Point q; Point r
where t := Corners(p, q, r) {
  shape t.pq = Line {
    start: p.at
    end: q.at
    strokeWidth: 2
    strokeColor: #4a8ac4
  }
  shape t.qr = Line {
    start: q.at
    end: r.at
    strokeWidth: 2
    strokeColor: #4a8ac4
  }
  shape t.rp = Line {
    start: r.at
    end: p.at
    strokeWidth: 2
    strokeColor: #4a8ac4
  }
  shape t.area = Path {
    d: pathFromPoints("closed", [p.at, q.at, r.at])
    fillColor: rgba(0.29, 0.54, 0.77, 0.16)
    strokeWidth: 0
    strokeColor: none()
  }
  ensure greaterThan(vdist(p.at, q.at), 110)
  ensure greaterThan(vdist(q.at, r.at), 110)
  ensure greaterThan(vdist(r.at, p.at), 110)
  ensure greaterThan(inradius(p.at, q.at, r.at), 45)
  vec2 middle = incenter(p.at, q.at, r.at)
  encourage nearVec(p.text.center, p.at + 17 * unit(p.at - middle), 0)
  encourage nearVec(q.text.center, q.at + 17 * unit(q.at - middle), 0)
  encourage nearVec(r.text.center, r.at + 17 * unit(r.at - middle), 0)
  layer p.icon above t.pq
  layer q.icon above t.qr
  layer r.icon above t.rp
}

forall Triangle t; Point p; Point q; Point r
where t := Corners(p, q, r); Circumcircle(t) {
  shape t.around = Circle {
    center: circumcenter(p.at, q.at, r.at)
    r: circumradius(p.at, q.at, r.at)
    fillColor: none()
    strokeWidth: 1.5
    strokeColor: #b8862d
  }
}

forall Triangle t; Point p; Point q; Point r
where t := Corners(p, q, r); Incircle(t) {
  shape t.inside = Circle {
    center: incenter(p.at, q.at, r.at)
    r: inradius(p.at, q.at, r.at)
    fillColor: none()
    strokeWidth: 1.5
    strokeColor: #d9487d
  }
}

forall Point p; Point at; Point q
where RightAngle(p, at, q) {
  ensure equal(100 * dot(unit(p.at - at.at), unit(q.at - at.at)), 0)
}

forall Point m; Point p; Point q
where Midpoint(m, p, q) {
  ensure equal(m.at[0], (p.at[0] + q.at[0]) / 2)
  ensure equal(m.at[1], (p.at[1] + q.at[1]) / 2)
}`,
  },
};
