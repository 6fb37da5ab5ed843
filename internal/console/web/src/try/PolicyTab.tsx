import { useEffect, useLayoutEffect, useRef, useState, type FormEvent } from 'react'
import { ActionGroup, Button, Form, FormGroup, FormSelect, FormSelectOption, Stack } from '@patternfly/react-core'
import type { PolicyCheck, PolicyQuestion } from '../api/types'
import { useAsk } from '../api/useAsk'
import { announce } from '../shell/announce'
import { Field } from '../states/Field'
import { errorOf, FormErrors, stillWrong, type FormError } from '../states/FormErrors'
import { ProblemAlert } from '../states/ProblemAlert'
import { sentence } from '../states/words'
import { PolicyFindings } from './PolicyFindings'

export interface PolicyFields { text: string; kind: string; roleARN: string }

export const noPolicy: PolicyFields = { text: '', kind: 'identity', roleARN: '' }

const kinds: Record<string, string> = {
  identity: 'Identity policy: of a role, a user or a group',
  resource: 'Resource policy: of a bucket, a queue or another resource',
  trust: 'Trust policy: who may become a role',
  boundary: 'Permissions boundary',
  session: 'Session policy',
  managed: 'Managed policy',
}

export function PolicyTab({ policy, onChange }: { policy: PolicyFields; onChange: (policy: PolicyFields) => void }) {
  const [sent, setSent] = useState<FormError[]>([])
  const { data, problem, busy, ask, forget } = useAsk<PolicyCheck>()
  const wrong = policy.text.trim() === '' ? [{ id: 'policy-text', text: 'The policy is empty' }] : []
  const errors = stillWrong(sent, wrong)
  // What was found in another policy must not stay beside this one.
  useLayoutEffect(forget, [policy, forget])
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!data) return
    announce(sentence(data.sentence))
    place.current?.querySelector('h2')?.focus()
  }, [data])
  const send = (event: FormEvent) => {
    event.preventDefault()
    setSent(wrong)
    if (wrong.length === 0) void ask('try/policy', questionOf(policy))
  }
  return (
    <Stack hasGutter>
      <p>Paste a policy of AWS, and see every mistake in it before AWS refuses it or reads it in another way than you do.</p>
      <FormErrors errors={errors} sent={sent} level="h2" />
      <Form className="tabard-form" onSubmit={send}>
        <FormGroup label="Kind of policy" fieldId="policy-kind">
          <FormSelect id="policy-kind" value={policy.kind} onChange={(_event, kind) => onChange({ ...policy, kind })}>
            {Object.entries(kinds).map(([value, name]) => <FormSelectOption key={value} value={value} label={name} />)}
          </FormSelect>
        </FormGroup>
        {policy.kind === 'trust' && (
          <Field
            id="policy-role" label="ARN of the role (optional)" value={policy.roleARN} onChange={(roleARN) => onChange({ ...policy, roleARN })}
            help="For example arn:aws:iam::123456789012:role/NAME. The OIDC providers of the policy must be in its account."
          />
        )}
        <Field
          id="policy-text" label="Policy" rows={8} isRequired value={policy.text} onChange={(text) => onChange({ ...policy, text })}
          error={errorOf(errors, 'policy-text')} help="In JSON. The console on this computer reads it, and neither keeps it nor sends it on."
        />
        <ActionGroup><Button type="submit" isLoading={busy}>Check</Button></ActionGroup>
      </Form>
      {problem && <ProblemAlert problem={problem} />}
      <div ref={place}>{data && <PolicyFindings check={data} />}</div>
    </Stack>
  )
}

function questionOf({ text, kind, roleARN }: PolicyFields): PolicyQuestion {
  return { text, kind, roleARN: kind === 'trust' && roleARN.trim() !== '' ? roleARN.trim() : undefined }
}
