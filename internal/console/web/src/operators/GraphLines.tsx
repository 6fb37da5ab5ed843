import type { ReactNode } from 'react'
import type { Graph } from '../api/types'

// Sizes in pixels: between lanes, from the top to the middle of a node, of a node, and of a bend.
const gap = 12
const middle = 14
const radius = 5
const bend = 6

// GraphLines is the part of a drawing beside one node, as high as the node's words. It is a picture alone:
// the words say which upgrades it does not show, and the table of versions has all.
export function GraphLines({ graph, row }: { graph: Graph; row: number }) {
  const width = gap * graph.lanes + 2 * (radius + 5)
  const x = width - radius - 5
  return (
    <svg width={width} className="tabard-graph-lines" aria-hidden="true" focusable="false">
      {straight(graph, row, x)}
      {Array.from({ length: graph.lanes }, (_, index) => <Lane key={index} graph={graph} row={row} lane={index + 1} x={x} />)}
      <circle cx={x} cy={middle} r={radius} className={graph.nodes[row]?.head ? 'tabard-graph-head' : undefined} />
    </svg>
  )
}

// straight are the lines between a node and its neighbours.
function straight({ edges }: Graph, row: number, x: number): ReactNode[] {
  return edges.filter(({ from, to, lane }) => lane === 0 && (from === row || to === row)).map(({ from, to }) => {
    const isDown = Math.max(from, to) > row
    return (
      <g key={`${from} ${to}`}>
        <line x1={x} x2={x} y1={isDown ? middle : 0} y2={isDown ? '100%' : middle} />
        {to === row && <path d={isDown ? arrow(x, middle + radius, 0, 1) : arrow(x, middle - radius, 0, -1)} className="tabard-graph-arrow" />}
      </g>
    )
  })
}

interface LaneProps { graph: Graph; row: number; lane: number; x: number }

// Lane is what a lane has in a row: a line that passes, begins or ends, and one between it and the node.
function Lane({ graph, row, lane, x }: LaneProps) {
  const inLane = graph.edges.filter((edge) => edge.lane === lane)
  const to = inLane.find((edge) => Math.min(edge.from, edge.to) <= row && row <= Math.max(edge.from, edge.to))?.to
  if (to === undefined) return null
  const rows = inLane.filter((edge) => edge.to === to).flatMap((edge) => [edge.from, edge.to])
  const at = x - gap * lane
  const isFirst = Math.min(...rows) === row
  const isLast = Math.max(...rows) === row
  // A bend where the line begins or ends; where it goes on, a dot tells what meets it from what crosses it.
  const turn = isFirst || isLast ? `M${at} ${isFirst ? middle + bend : middle - bend}Q${at} ${middle} ${at + bend} ${middle}` : `M${at} ${middle}`
  return (
    <>
      <line x1={at} x2={at} y1={isFirst ? middle + bend : 0} y2={isLast ? middle - bend : '100%'} />
      {rows.includes(row) && <path d={`${turn}H${x - radius}`} />}
      {rows.includes(row) && !isFirst && !isLast && <circle cx={at} cy={middle} r={2} className="tabard-graph-meets" />}
      {to === row && <path d={arrow(x - radius, middle, -1, 0)} className="tabard-graph-arrow" />}
    </>
  )
}

// arrow is the head of an arrow that ends at a place; the other end is in the direction of dx or dy.
function arrow(x: number, y: number, dx: number, dy: number): string {
  const [long, wide] = [6, 3.5]
  return `M${x} ${y}L${x + dx * long + dy * wide} ${y + dy * long + dx * wide}L${x + dx * long - dy * wide} ${y + dy * long - dx * wide}Z`
}
