import { useEffect, useState } from 'react'
import { Skeleton, Stack, StackItem } from '@patternfly/react-core'

interface Props { what: string; rows?: number }

// Loading has the place of what is being read. After five seconds it says what takes so long.
export function Loading({ what, rows = 5 }: Props) {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 5_000)
    return () => clearTimeout(timer)
  }, [])
  return (
    <Stack hasGutter>
      <StackItem>
        <p role="status">{slow ? `Still waiting for ${what}.` : <span className="pf-v6-screen-reader">Waiting for {what}.</span>}</p>
      </StackItem>
      {Array.from({ length: rows }, (_, n) => (
        <StackItem key={n} aria-hidden><Skeleton height="2rem" width={n === 0 ? '60%' : '100%'} /></StackItem>
      ))}
    </Stack>
  )
}
