import { Link } from 'react-router-dom'
import { Label } from '@patternfly/react-core'
import type { Row } from '../api/types'
import { placeOf } from './words'

// What the list says of one operator, in its table and on its cards.

export function NameLink({ row }: { row: Row }) {
  return <Link to={`/operators/${encodeURIComponent(row.id)}`}>{row.displayName || row.package}</Link>
}

// Whence is the package, who makes it, and the catalogue that has it.
export function Whence({ row }: { row: Row }) {
  return (
    <>
      <div className="tabard-small">{row.package}{row.provider && `, by ${row.provider}`}</div>
      <div className="tabard-small">from {placeOf(row.source)}</div>
    </>
  )
}

export function Version({ row }: { row: Row }) {
  return (
    <>
      {row.version ?? 'Not known'}
      {row.channel && <div className="tabard-small">{row.channel}</div>}
    </>
  )
}

// The page of the operator has all of them.
const namespacesShown = 3

interface StateProps { row: Row; without: string }

// State says where the operator is installed; without is what it says where it is not.
export function State({ row, without }: StateProps) {
  const installed = row.installed ?? []
  return (
    <>
      {installed.length === 0 && without && <div>{without}</div>}
      {installed.slice(0, namespacesShown).map(({ namespace, state }) => (
        <div key={namespace} className="tabard-breaks">Installed in {namespace}{state && `, ${state}`}</div>
      ))}
      {installed.length > namespacesShown && <div>and in {installed.length - namespacesShown} more</div>}
      {row.deprecated && <div><Label isCompact color="orange" variant="outline">Deprecated</Label></div>}
    </>
  )
}
