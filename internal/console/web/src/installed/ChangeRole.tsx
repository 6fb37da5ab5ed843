import { useEffect, useRef, useState, type FormEvent } from 'react'
import { ActionGroup, AlertActionLink, Button, Form, List, ListItem, Stack, Title } from '@patternfly/react-core'
import type { InstallDetail, RolePlan, RoleQuestion, Written } from '../api/types'
import { useAsk } from '../api/useAsk'
import { documentsOf, missingIn, noRole, roleOf, type Cloud, type RoleFields } from '../roles/fields'
import { JudgementView } from '../roles/JudgementView'
import { Risk } from '../roles/Risk'
import { chosenCloud, RoleForm } from '../roles/RoleForm'
import { verdictInWords } from '../roles/words'
import { announce } from '../shell/announce'
import { Command } from '../states/Command'
import { FormErrors, stillWrong, type FormError } from '../states/FormErrors'
import { ProblemAlert } from '../states/ProblemAlert'
import { sentence } from '../states/words'
import { WriteButton } from '../states/WriteButton'

interface Props { install: InstallDetail; offered: Cloud[]; onDone: () => void }

// ChangeRole asks what another role would change, and writes it when the person has seen that.
export function ChangeRole({ install, offered, onDone }: Props) {
  const [fields, setFields] = useState<RoleFields>(noRole)
  const [sent, setSent] = useState<FormError[]>([])
  const planning = useAsk<RolePlan>()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.querySelector('h3')?.focus(), [])

  const cloud = chosenCloud(fields, offered)
  const errors = stillWrong(sent, missingIn(fields, cloud))
  const path = `installs/${encodeURIComponent(install.namespace)}/${encodeURIComponent(install.subscription)}/role`
  const question: RoleQuestion = { role: roleOf(fields, cloud), documents: documentsOf(fields, cloud) }
  const look = () => void planning.ask(path, question)
  const send = (event: FormEvent) => {
    event.preventDefault()
    const wrong = missingIn(fields, cloud)
    setSent(wrong)
    if (wrong.length === 0) look()
  }
  const change = (next: RoleFields) => {
    // A plan for another role must not stay beside this one.
    planning.forget()
    setFields(next)
  }
  return (
    <div ref={place}>
      <Stack hasGutter>
        <Title headingLevel="h3" tabIndex={-1}>Another role</Title>
        <FormErrors errors={errors} sent={sent} />
        <Form className="tabard-form" onSubmit={send}>
          <RoleForm offered={offered} fields={fields} onChange={change} errors={errors} />
          <ActionGroup>
            <Button type="submit" variant="secondary" isLoading={planning.busy}>See what changes</Button>
            <Button variant="link" onClick={onDone}>Cancel</Button>
          </ActionGroup>
        </Form>
        {planning.problem && <ProblemAlert problem={planning.problem} level="h3" />}
        {planning.data && (
          <Planned key={planning.data.digest} plan={planning.data} name={install.package} path={path} question={question} look={look} onDone={onDone} />
        )}
      </Stack>
    </div>
  )
}

interface PlannedProps { plan: RolePlan; name: string; path: string; question: RoleQuestion; look: () => void; onDone: () => void }

function Planned({ plan, name, path, question, look, onDone }: PlannedProps) {
  const [accepted, setAccepted] = useState(false)
  const { problem, busy, ask } = useAsk<Written>()
  const { judgement, changes, mayPass, accept, digest, command } = plan
  const said = verdictInWords(judgement.verdict)
  useEffect(() => announce(said), [said])
  const write = async () => {
    const written = await ask(path, { ...question, digest, accept: accepted ? accept : undefined })
    if (!written) return
    announce(written.said.map(sentence).join(' '))
    onDone()
  }
  return (
    <Stack hasGutter>
      <JudgementView judgement={judgement} />
      <Title headingLevel="h3" size="md">What changes</Title>
      <List>{changes.map((text) => <ListItem key={text} className="tabard-breaks">{sentence(text)}</ListItem>)}</List>
      {problem && <ProblemAlert level="h3" problem={problem} actions={<AlertActionLink onClick={look}>Look again</AlertActionLink>} />}
      <Risk name={name} verdict={judgement.verdict} mayPass={mayPass} accept={accept} accepted={accepted} onAccept={() => setAccepted(true)} />
      <WriteButton onClick={() => void write()} isLoading={busy} why={mayPass || accepted ? undefined : 'The role is not known to be enough.'}>
        Give it this role
      </WriteButton>
      <Command command={command} label="The command that does the same" />
    </Stack>
  )
}
