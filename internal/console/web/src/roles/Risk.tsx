import { useEffect, useRef, useState } from 'react'
import { Alert, AlertActionLink } from '@patternfly/react-core'
import type { Judgement, Reason } from '../api/types'
import { AcceptDialog } from './AcceptDialog'

interface Props {
  name: string
  verdict: Judgement['verdict']
  mayPass: boolean
  // The server's word for the risk; without it, nobody can take it.
  accept?: string
  annotation?: string
  // Why the risk was taken; nothing while it is not.
  taken?: Reason
  onTake: (reason: Reason) => void
  level?: 'h2' | 'h3'
}

export const riskButton = 'take-the-risk'

// Risk is there when something speaks against going on. A person can go on nevertheless.
export function Risk({ name, verdict, mayPass, accept, annotation, taken, onTake, level = 'h3' }: Props) {
  const [isAsked, setAsked] = useState(false)
  const said = useRef<HTMLDivElement>(null)
  const isTaken = useRef(false)
  useEffect(() => {
    if (!taken || !isTaken.current) return
    isTaken.current = false
    // What opened the dialog is gone. The dialog gives up the focus only after this.
    const timer = setTimeout(() => said.current?.focus())
    return () => clearTimeout(timer)
  }, [taken])
  if (mayPass) return null
  if (!accept) return <Alert variant="danger" isInline component={level} title="It cannot go on like this" />
  if (taken) {
    return (
      <div ref={said} tabIndex={-1} role="group" aria-label="The risk">
        <Alert variant="warning" isInline component={level} title="You take the risk: it can go on">
          <p className="tabard-breaks">Your reason: {taken.text}</p>
        </Alert>
      </div>
    )
  }
  const what = verdict === 'Missing'
    ? 'The role lacks something that the operator asks for. The operator may not work.'
    : 'Nobody knows whether the role is enough. The operator may not work.'
  return (
    <>
      <Alert
        variant="warning"
        isInline
        component={level}
        title="Do you want to go on?"
        actionLinks={<AlertActionLink id={riskButton} onClick={() => setAsked(true)}>Take the risk</AlertActionLink>}
      >
        <p>{what} Give it another role, or have the role changed first. If you know better, you can take the risk.</p>
      </Alert>
      {isAsked && (
        <AcceptDialog
          name={name}
          what={what}
          annotation={annotation}
          onClose={() => setAsked(false)}
          onAccept={(reason) => {
            setAsked(false)
            isTaken.current = true
            onTake(reason)
          }}
        />
      )}
    </>
  )
}
