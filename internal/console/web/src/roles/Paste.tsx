import { useState } from 'react'
import { cloudName } from '../operators/words'
import { announce } from '../shell/announce'
import { Field } from '../states/Field'
import { readPaste, type Cloud, type RoleFields } from './fields'

interface Props { onFound: (found: Partial<RoleFields>) => void; offered: Cloud[] }

// Paste fills in the fields from what somebody sent. What it understands leaves it.
export function Paste({ onFound, offered }: Props) {
  const [text, setText] = useState('')
  const [note, setNote] = useState('')
  const read = (next: string) => {
    const found = readPaste(next)
    if (!found?.cloud) {
      setText(next)
      setNote(next.trim() === '' ? '' : 'Nothing in this was understood.')
      return
    }
    if (!offered.includes(found.cloud)) {
      setText(next)
      setNote(`This is of ${cloudName(found.cloud)}, whose tokens the operator does not take.`)
      return
    }
    onFound(found)
    setText('')
    setNote('Filled in below.')
    announce('Filled in below.')
  }
  return (
    <Field
      id="role-paste"
      label="Paste what you were sent (optional)"
      help={note || 'An ARN, an audience, a service account or the reply.json of a hand-off. It fills in the fields below.'}
      rows={2}
      value={text}
      onChange={read}
    />
  )
}
