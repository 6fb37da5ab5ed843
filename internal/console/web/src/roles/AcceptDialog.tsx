import { useState, type FormEvent } from 'react'
import { Button, Form, Modal, ModalBody, ModalFooter, ModalHeader, Title } from '@patternfly/react-core'
import { Field } from '../states/Field'

interface Props { name: string; what: string; onAccept: () => void; onClose: () => void }

// AcceptDialog takes a risk only from who types the name of what it is about.
export function AcceptDialog({ name, what, onAccept, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (typed.trim() === name) onAccept()
    else setWrong(true)
  }
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="accept-title" aria-describedby="accept-what">
      {/* The title of the component would be a second h1. */}
      <ModalHeader><Title id="accept-title" headingLevel="h2">Take the risk</Title></ModalHeader>
      <ModalBody>
        <p id="accept-what" className="tabard-facts">{what} That you take the risk is written down.</p>
        <Form id="accept-form" onSubmit={send}>
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
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button variant="danger" type="submit" form="accept-form">Take the risk</Button>
        <Button variant="link" onClick={onClose}>Cancel</Button>
      </ModalFooter>
    </Modal>
  )
}
