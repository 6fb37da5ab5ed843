import { useEffect, useState } from 'react'
import { Alert, AlertActionLink } from '@patternfly/react-core'
import type { Problem } from '../api/types'

const oldAfter = 5 * 60_000
// Where news should have come, what is shown is old earlier.
const silentAfter = 30_000

interface Props { readAt?: string; problem?: Problem; silent?: boolean; retry: () => void }

// Stale says that what the page shows is old, because it was read long ago or could not be read again.
export function Stale({ readAt, problem, silent = false, retry }: Props) {
  const [, look] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => look(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  const age = readAt ? Date.now() - Date.parse(readAt) : 0
  if (!problem && age < (silent ? silentAfter : oldAfter)) return null
  const when = readAt ? `This was read ${inWords(age)}` : 'This is what was read before'
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

function inWords(age: number) {
  const minutes = Math.round(age / 60_000)
  if (minutes < 1) return 'less than a minute ago'
  if (minutes < 120) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} ago`
  return `${Math.round(minutes / 60)} hours ago`
}
