import { useEffect, useLayoutEffect, useState, type FormEvent } from 'react'
import { useNavigate } from 'react-router-dom'
import { ActionGroup, Button, Form, Stack, Title } from '@patternfly/react-core'
import type { Check, CheckQuestion, Operator } from '../api/types'
import { useAsk } from '../api/useAsk'
import { keepRole } from '../install/form'
import { cloudsOf, documentsOf, missingIn, noRole, roleOf, type RoleFields } from '../roles/fields'
import { JudgementView } from '../roles/JudgementView'
import { chosenCloud, RoleForm } from '../roles/RoleForm'
import { verdictInWords } from '../roles/words'
import { announce } from '../shell/announce'
import { Command } from '../states/Command'
import { FormErrors, stillWrong, type FormError } from '../states/FormErrors'
import { ProblemAlert } from '../states/ProblemAlert'

interface Props { operator: Operator; namespace: string; cloud?: string }

// Answer is for what the owner of the account sends back.
export function Answer({ operator, namespace: typed, cloud }: Props) {
  const namespace = typed.trim()
  const [fields, setFields] = useState<RoleFields>(noRole)
  const [sent, setSent] = useState<FormError[]>([])
  const { data, problem, busy, ask, forget } = useAsk<Check>()
  const offered = cloudsOf(operator, cloud)
  const chosen = chosenCloud(fields, offered)
  const errors = stillWrong(sent, missingIn(fields, chosen))
  const question: CheckQuestion = {
    operator: operator.id, version: operator.chosen?.csv, namespace, role: roleOf(fields, chosen), documents: documentsOf(fields, chosen),
  }
  const key = JSON.stringify(question)
  // A judgement of another role, or for another namespace, must not stay beside this one.
  useLayoutEffect(forget, [key, forget])
  const send = (event: FormEvent) => {
    event.preventDefault()
    const wrong = missingIn(fields, chosen)
    setSent(wrong)
    if (wrong.length > 0) return
    void ask('checks/role', question)
  }
  return (
    <Stack hasGutter>
      <Title headingLevel="h2">I got the ARN</Title>
      <p>See whether the role is enough before you install. Nothing is written.</p>
      <FormErrors errors={errors} sent={sent} />
      <Form className="tabard-form" onSubmit={send}>
        <RoleForm offered={offered} fields={fields} errors={errors} onChange={setFields} />
        <ActionGroup><Button type="submit" variant="secondary" isLoading={busy}>Check the role</Button></ActionGroup>
      </Form>
      {problem && <ProblemAlert problem={problem} level="h3" />}
      {data && <Checked check={data} operator={operator} onInstall={() => keepRole(operator, namespace, fields)} />}
    </Stack>
  )
}

function Checked({ check, operator, onInstall }: { check: Check; operator: Operator; onInstall: () => void }) {
  const navigate = useNavigate()
  const said = verdictInWords(check.judgement.verdict)
  useEffect(() => announce(said), [said])
  const install = () => {
    onInstall()
    const version = operator.chosen?.csv
    navigate(`/operators/${encodeURIComponent(operator.id)}/install${version ? `?${new URLSearchParams({ version })}` : ''}`)
  }
  return (
    <Stack hasGutter>
      <JudgementView judgement={check.judgement} />
      <Command command={check.command} label="The command that checks the same" />
      {!operator.cannotInstall && <div><Button variant={check.enough ? 'primary' : 'secondary'} onClick={install}>Install with this role</Button></div>}
    </Stack>
  )
}
