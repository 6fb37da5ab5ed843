import { useEffect, useState, type FormEvent } from 'react'
import { Button, Form, Modal, ModalBody, ModalFooter, ModalHeader, Title } from '@patternfly/react-core'
import type { Reason } from '../api/types'
import { useAsk } from '../api/useAsk'
import { Field } from '../states/Field'
import { ProblemAlert } from '../states/ProblemAlert'
import { sentence } from '../states/words'

interface Props {
  name: string
  what: string
  // What an InstallPlan will say of the risk.
  annotation?: string
  onAccept: (reason: Reason) => void
  onClose: () => void
}

// AcceptDialog takes a risk only from who types the name of what it is about, and says why.
export function AcceptDialog({ name, what, annotation, onAccept, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const [why, setWhy] = useState('')
  const [isWrong, setWrong] = useState(false)
  const { problem, busy, ask, forget } = useAsk<Reason>()
  const isOfReason = problem?.field === 'reason'
  // When the answer has come, the first field that is wrong has the focus, so that its error is read out.
  useEffect(() => {
    if (!busy) document.querySelector<HTMLElement>('#accept-form [aria-invalid="true"]')?.focus()
  }, [busy])
  const send = async (event: FormEvent) => {
    event.preventDefault()
    const isNamed = typed.trim() === name
    setWrong(!isNamed)
    const reason = await ask('checks/reason', { text: why.trim() })
    if (reason && isNamed) onAccept(reason)
  }
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="accept-title" aria-describedby="accept-what">
      {/* The title of the component would be a second h1. */}
      <ModalHeader><Title id="accept-title" headingLevel="h2">Take the risk</Title></ModalHeader>
      <ModalBody>
        <p id="accept-what" className="tabard-facts">{what} That you take the risk is written down.</p>
        {annotation && <p className="tabard-facts tabard-breaks">The InstallPlan gets the annotation <code>{annotation}</code>, and the time.</p>}
        <Form id="accept-form" onSubmit={(event) => void send(event)}>
          <Field
            id="accept-name"
            label={`Type ${name} to go on`}
            isRequired
            value={typed}
            onChange={(value) => {
              setTyped(value)
              setWrong(false)
            }}
            error={isWrong ? `This is not ${name}` : undefined}
          />
          <Field
            id="accept-reason"
            label="Why do you take the risk?"
            isRequired
            value={why}
            onChange={(value) => {
              setWhy(value)
              forget()
            }}
            help="One line of at most 500 characters. An event has it, for all who may read events of the namespace."
            error={isOfReason ? sentence(problem.detail) : undefined}
          />
        </Form>
        {problem && !isOfReason && <ProblemAlert level="h3" problem={problem} />}
      </ModalBody>
      <ModalFooter>
        <Button variant="danger" type="submit" form="accept-form" isLoading={busy}>Take the risk</Button>
        <Button variant="link" onClick={onClose}>Cancel</Button>
      </ModalFooter>
    </Modal>
  )
}
