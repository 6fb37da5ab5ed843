import { useEffect, useState, type FormEvent } from 'react'
import { useSearchParams } from 'react-router-dom'
import { ActionGroup, Button, Form, Stack, Title } from '@patternfly/react-core'
import { Field } from '../states/Field'
import { errorOf, FormErrors, stillWrong, type FormError } from '../states/FormErrors'
import { fields, missingIn, wordsOf, type Call } from './call'

interface Props { refused: FormError[] }

// AskCall asks whether the role may make some calls. They are in the address. What is refused of them stands
// at its field.
export function AskCall({ refused }: Props) {
  const [params] = useSearchParams()
  const actions = params.getAll('action').join(' ')
  const resource = params.get('resource') ?? ''
  // By the key, the form has what the address has, also after the back button.
  return <AskForm key={`${actions} ${resource}`} asked={{ actions, resource }} refused={refused} />
}

function AskForm({ asked, refused }: Props & { asked: Call }) {
  const [, setParams] = useSearchParams()
  const [call, setCall] = useState(asked)
  const [sent, setSent] = useState<FormError[]>([])
  // The answer comes after the call is in the address.
  useEffect(() => setSent(refused), [refused])
  // What is wrong with one field may be mended in the other one.
  const isAsAsked = call.actions === asked.actions && call.resource === asked.resource
  const wrong = [...missingIn(call), ...isAsAsked ? refused : []]
  const errors = stillWrong(wrong, sent)
  const put = ({ actions, resource }: Call) => setParams((old) => {
    const next = new URLSearchParams(old)
    next.delete('action')
    next.delete('resource')
    wordsOf(actions).forEach((action) => next.append('action', action))
    if (resource.trim() !== '') next.set('resource', resource.trim())
    return next
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    setSent(wrong)
    if (wrong.length === 0) put(call)
  }
  return (
    <Stack hasGutter>
      <Title headingLevel="h2">Ask about a call</Title>
      <FormErrors errors={errors} sent={sent} />
      <Form className="tabard-form" onSubmit={send}>
        <Field
          id={fields.action} label="Action" isRequired value={call.actions} error={errorOf(errors, fields.action)}
          help="For example s3:GetObject. Several have a space between them."
          onChange={(actions) => setCall({ ...call, actions })}
        />
        <Field
          id={fields.resource} label="Resource (optional)" value={call.resource} error={errorOf(errors, fields.resource)}
          help="The ARN of what the call is about, for example arn:aws:s3:::BUCKET/KEY"
          onChange={(resource) => setCall({ ...call, resource })}
        />
        <ActionGroup>
          <Button type="submit" variant="secondary">Ask</Button>
          {asked.actions !== '' && <Button variant="link" onClick={() => put({ actions: '', resource: '' })}>Clear the call</Button>}
        </ActionGroup>
      </Form>
    </Stack>
  )
}
