import { Link } from 'react-router-dom'
import type { Problem } from '../api/types'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'

interface Props { what: string; whole: string; problem?: Problem; retry: () => void }

// Unread has the place of a list that is not read yet, or could not be. An address that is refused leads
// nowhere by being asked again: the whole list is at another one.
export function Unread({ what, whole, problem, retry }: Props) {
  if (!problem) return <Loading what={what} rows={8} />
  return <ProblemState problem={problem} retry={retry} link={problem.status === 400 && <Link to={whole}>Show the whole list</Link>} />
}
