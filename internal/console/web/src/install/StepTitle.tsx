import { useEffect, useRef } from 'react'
import { Title } from '@patternfly/react-core'
import { useInstall } from './context'

// StepTitle has the focus when its step comes, so that the keyboard and screen readers go on from there.
export function StepTitle({ children }: { children: string }) {
  const { moved } = useInstall()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (moved.current) place.current?.querySelector('h2')?.focus()
    moved.current = true
  }, [moved])
  return <div ref={place}><Title id="step-title" headingLevel="h2" tabIndex={-1}>{children}</Title></div>
}
