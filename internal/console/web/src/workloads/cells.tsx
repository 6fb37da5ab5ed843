import { sentence } from '../states/words'
import { StandingLabel } from './StandingLabel'
import { otherRole } from './words'

// RoleCell is the role that a workload is to have, and the one that it has where that is another.
export function RoleCell({ row }: { row: { standing: string; role?: string; has?: string; container?: string } }) {
  const other = otherRole(row)
  return (
    <>
      {row.role || (row.standing === 'unknown' ? 'Not known' : other ? 'None is asked for' : 'None')}
      {other && <div className="tabard-small">It has {other}{row.container && `, in container ${row.container}`}</div>}
    </>
  )
}

// writtenBy is who wrote the annotation that names the role.
export function writtenBy({ by, role, has, standing }: { by?: string; role?: string; has?: string; standing: string }): string {
  if (by) return by
  if (standing === 'unknown') return 'Not known'
  if (role && role === has) return 'The pod itself'
  return role ? 'Not known' : 'Nobody'
}

export function StateCell({ row }: { row: { standing: string; text: string } }) {
  return (
    <>
      <StandingLabel standing={row.standing} />
      <div>{sentence(row.text)}</div>
    </>
  )
}
