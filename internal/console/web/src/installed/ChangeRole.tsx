import { useEffect, useLayoutEffect, useRef, useState, type FormEvent } from 'react'
import { ActionGroup, AlertActionLink, Button, Form, List, ListItem, Stack, Title } from '@patternfly/react-core'
import type { InstallDetail, Reason, RolePlan, RoleQuestion, Written } from '../api/types'
import { useAsk } from '../api/useAsk'
import { useWrite, type Writing } from '../api/useWrite'
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
export function ChangeRole({ install, offered: offeredNow, onDone }: Props) {
  // The install is read all the time, and the form must not become another meanwhile.
  const [offered] = useState(offeredNow)
  const [fields, setFields] = useState<RoleFields>(noRole)
  const [sent, setSent] = useState<FormError[]>([])
  const { data, problem, busy, ask, forget } = useAsk<RolePlan>()
  const writing = useWrite<Written>()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.querySelector('h3')?.focus(), [])

  const cloud = chosenCloud(fields, offered)
  const errors = stillWrong(sent, missingIn(fields, cloud))
  const path = `installs/${encodeURIComponent(install.namespace)}/${encodeURIComponent(install.subscription)}/role`
  const question: RoleQuestion = { role: roleOf(fields, cloud), documents: documentsOf(fields, cloud) }
  const key = JSON.stringify(question)
  // A plan for another role must not stay beside this one.
  useLayoutEffect(() => {
    forget()
    writing.forget()
  }, [key, forget, writing.forget])
  const look = () => {
    writing.forget()
    void ask(path, question)
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    const wrong = missingIn(fields, cloud)
    setSent(wrong)
    if (wrong.length === 0) look()
  }
  return (
    <div ref={place}>
      <Stack hasGutter>
        <Title headingLevel="h3" tabIndex={-1}>Another role</Title>
        <FormErrors errors={errors} sent={sent} />
        {/* While a role is written, the form stays as what is written. */}
        <fieldset disabled={writing.busy} className="tabard-plain" aria-label="The role">
          <Form className="tabard-form" onSubmit={send}>
            <RoleForm offered={offered} fields={fields} onChange={setFields} errors={errors} />
            <ActionGroup>
              <Button type="submit" variant="secondary" isLoading={busy}>See what changes</Button>
              <Button variant="link" onClick={onDone}>Cancel</Button>
            </ActionGroup>
          </Form>
        </fieldset>
        {problem && <ProblemAlert problem={problem} level="h3" />}
        {data && (
          <Planned
            key={`${data.digest} ${data.judgement.verdict} ${data.accept}`}
            plan={data}
            name={install.package}
            path={path}
            question={question}
            look={look}
            writing={writing}
            onDone={onDone}
          />
        )}
      </Stack>
    </div>
  )
}

interface PlannedProps {
  plan: RolePlan
  name: string
  path: string
  question: RoleQuestion
  look: () => void
  writing: Writing<Written>
  onDone: () => void
}

function Planned({ plan, name, path, question, look, writing, onDone }: PlannedProps) {
  const [taken, setTaken] = useState<Reason>()
  const { problem, busy } = writing
  const { judgement, changes, mayPass, accept, digest, command } = plan
  const said = verdictInWords(judgement.verdict)
  useEffect(() => announce(said), [said])
  const write = async () => {
    const written = await writing.write(path, { ...question, digest, accept: taken && accept, reason: taken?.text })
    if (!written) return
    announce(written.said.map(sentence).join(' '))
    if (writing.here.current) onDone()
  }
  return (
    <Stack hasGutter>
      <JudgementView judgement={judgement} />
      <Title headingLevel="h3" size="md">What changes</Title>
      <List>{changes.map((text) => <ListItem key={text} className="tabard-breaks">{sentence(text)}</ListItem>)}</List>
      {problem && <ProblemAlert level="h3" problem={problem} actions={<AlertActionLink onClick={look}>Look again</AlertActionLink>} />}
      <Risk name={name} verdict={judgement.verdict} mayPass={mayPass} accept={accept} taken={taken} onTake={setTaken} />
      <WriteButton onClick={() => void write()} isLoading={busy} why={mayPass || taken ? undefined : 'The role is not known to be enough.'}>
        Give it this role
      </WriteButton>
      <Command command={command + (taken?.flag ?? '')} label="The command that does the same" />
    </Stack>
  )
}
