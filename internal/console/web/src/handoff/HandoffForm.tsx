import { useState, type FormEvent } from 'react'
import { ActionGroup, Button, ExpandableSection, Form } from '@patternfly/react-core'
import { Field } from '../states/Field'
import type { HandoffFields } from './form'

interface Props { form: HandoffFields; change: (part: Partial<HandoffFields>) => void; busy: boolean; onSend: () => void }

interface Item { name: keyof HandoffFields; label: string; help?: string }

const first: Item[] = [
  { name: 'account', label: 'AWS account (optional)', help: 'Twelve digits. Without it, the files have a place to fill in, and there is no script.' },
  { name: 'namespace', label: 'Namespace of the operator' },
  { name: 'clusterName', label: 'Name of the cluster (optional)', help: 'It becomes a part of the name of the role.' },
  { name: 'roleName', label: 'Name of the role (optional)', help: 'Without it, it is of the cluster, the namespace and the operator.' },
]

const more: Item[] = [
  { name: 'issuer', label: 'Issuer of the tokens (optional)', help: 'An https address. Without it, that of this cluster.' },
  { name: 'path', label: 'Path of the role (optional)', help: 'For example /operators/' },
  { name: 'boundary', label: 'Permissions boundary (optional)', help: 'The ARN of a policy' },
]

export function HandoffForm({ form, change, busy, onSend }: Props) {
  const [isOpen, setOpen] = useState(() => more.some(({ name }) => form[name] !== ''))
  const field = ({ name, label, help }: Item) => (
    <Field key={name} id={`handoff-${name}`} label={label} help={help} value={form[name]} onChange={(value) => change({ [name]: value })} />
  )
  const send = (event: FormEvent) => {
    event.preventDefault()
    onSend()
  }
  return (
    <Form className="tabard-form" onSubmit={send}>
      {first.map(field)}
      <ExpandableSection toggleText="More options" isExpanded={isOpen} onToggle={(_event, open) => setOpen(open)}>
        <div className="tabard-fields">{more.map(field)}</div>
      </ExpandableSection>
      <ActionGroup><Button type="submit" isLoading={busy}>Make the files</Button></ActionGroup>
    </Form>
  )
}
