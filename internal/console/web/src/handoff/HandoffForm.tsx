import { useState, type FormEvent } from 'react'
import { ActionGroup, Button, ExpandableSection, Form } from '@patternfly/react-core'
import { Field } from '../states/Field'
import { errorOf, FormErrors, stillWrong, type FormError } from '../states/FormErrors'
import type { HandoffFields } from './form'

interface Props { form: HandoffFields; change: (part: Partial<HandoffFields>) => void; busy: boolean; hasCluster: boolean; onSend: () => void }

interface Item { name: keyof HandoffFields; label: string; help?: string; isOptional?: boolean }

const first: Item[] = [
  { name: 'account', label: 'AWS account', isOptional: true, help: 'Twelve digits. Without it, the files have a place to fill in, and there is no script.' },
  { name: 'namespace', label: 'Namespace of the operator' },
  { name: 'clusterName', label: 'Name of the cluster', isOptional: true, help: 'It becomes a part of the name of the role.' },
  { name: 'roleName', label: 'Name of the role', isOptional: true, help: 'Without it, it is of the cluster, the namespace and the operator.' },
]

// Without a cluster, nobody but the person knows these.
const ofCluster: Item[] = [
  { name: 'namespace', label: 'Namespace of the operator' },
  { name: 'clusterName', label: 'Name of the cluster', help: 'It becomes a part of the name of the role.' },
  { name: 'issuer', label: 'Issuer of the tokens', help: 'An https address, that of the cluster where the operator will run.' },
]

const more: Item[] = [
  { name: 'issuer', label: 'Issuer of the tokens', isOptional: true, help: 'An https address. Without it, that of this cluster.' },
  { name: 'path', label: 'Path of the role', isOptional: true, help: 'For example /operators/' },
  { name: 'boundary', label: 'Permissions boundary', isOptional: true, help: 'The ARN of a policy' },
]

export function HandoffForm({ form, change, busy, hasCluster, onSend }: Props) {
  const [isOpen, setOpen] = useState(() => more.some(({ name }) => form[name] !== ''))
  const [sent, setSent] = useState<FormError[]>([])
  const required = hasCluster ? [] : ofCluster
  const isRest = ({ name }: Item) => required.every((other) => other.name !== name)
  const wrong = required.filter(({ name }) => form[name].trim() === '').map(({ name, label }) => ({ id: `handoff-${name}`, text: `${label} is empty` }))
  const errors = stillWrong(sent, wrong)
  const field = ({ name, label, help, isOptional }: Item) => (
    <Field
      key={name}
      id={`handoff-${name}`}
      label={isOptional ? `${label} (optional)` : label}
      help={help}
      isRequired={!isRest({ name, label })}
      value={form[name]}
      onChange={(value) => change({ [name]: value })}
      error={errorOf(errors, `handoff-${name}`)}
    />
  )
  const send = (event: FormEvent) => {
    event.preventDefault()
    setSent(wrong)
    if (wrong.length === 0) onSend()
  }
  return (
    <Form className="tabard-form" onSubmit={send}>
      <FormErrors errors={errors} sent={sent} level="h2" />
      {required.map(field)}
      {first.filter(isRest).map(field)}
      <ExpandableSection toggleText="More options" isExpanded={isOpen} onToggle={(_event, open) => setOpen(open)}>
        <div className="tabard-fields">{more.filter(isRest).map(field)}</div>
      </ExpandableSection>
      <ActionGroup><Button type="submit" isLoading={busy}>Make the files</Button></ActionGroup>
    </Form>
  )
}
