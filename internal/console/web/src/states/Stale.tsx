import { Alert, AlertActionLink } from '@patternfly/react-core'
import type { Problem } from '../api/types'
import { useNow } from './useNow'
import { ageInWords } from './words'

const oldAfter = 5 * 60_000
// Where news should have come, what is shown is old earlier.
const silentAfter = 30_000

interface Props { readAt?: string; problem?: Problem; silent?: boolean; retry: () => void }

// Stale says that what the page shows is old, because it was read long ago or could not be read again.
export function Stale({ readAt, problem, silent = false, retry }: Props) {
  const now = useNow()
  const age = readAt ? now - Date.parse(readAt) : 0
  if (!problem && age < (silent ? silentAfter : oldAfter)) return null
  const when = readAt ? `This was read ${ageInWords(age)} ago` : 'This is what was read before'
  return (
    <Alert
      variant="warning"
      isInline
      component="h2"
      title={when}
      actionLinks={<AlertActionLink onClick={retry}>Read again</AlertActionLink>}
    >
      {problem ? <p className="tabard-breaks">It could not be read again: {problem.title}. {problem.detail}</p> : <p>The cluster may have changed since.</p>}
    </Alert>
  )
}
