import { useState } from 'react'
import { Alert, Button, List, ListItem, Stack, Tab, Tabs, TabTitleText } from '@patternfly/react-core'
import { ApiError, postForFile } from '../api/client'
import type { Handoff, HandoffQuestion, Problem } from '../api/types'
import { CodeText } from '../states/CodeText'
import { Command } from '../states/Command'
import { ProblemAlert } from '../states/ProblemAlert'
import { sentence } from '../states/words'

interface Props { handoff: Handoff; question: HandoffQuestion }

export function Files({ handoff, question }: Props) {
  const [chosen, setChosen] = useState('')
  const active = handoff.files.find(({ name }) => name === chosen) ?? handoff.files[0]
  return (
    <>
      <Missing missing={handoff.missing} />
      <Download question={question} name={`${handoff.roleName}.zip`} />
      {active && (
        <Tabs activeKey={active.name} onSelect={(_event, key) => setChosen(String(key))} mountOnEnter unmountOnExit aria-label="Files of the hand-off">
          {handoff.files.map(({ name, text }) => (
            <Tab key={name} eventKey={name} title={<TabTitleText>{name}</TabTitleText>}>
              <Stack className="tabard-tab">{name === active.name && <CodeText text={text} name={name} />}</Stack>
            </Tab>
          ))}
        </Tabs>
      )}
      <Command command={handoff.command} label="The command that makes the same" />
    </>
  )
}

function Missing({ missing }: { missing: string[] }) {
  if (missing.length === 0) return null
  return (
    <Alert variant="info" isInline component="h3" title="Not all is known">
      <List>{missing.map((text) => <ListItem key={text} className="tabard-breaks">{sentence(text)}</ListItem>)}</List>
    </Alert>
  )
}

function Download({ question, name }: { question: HandoffQuestion; name: string }) {
  const [problem, setProblem] = useState<Problem>()
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      save(await postForFile('handoffs', question, 'application/zip'), name)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error.problem)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div>
      <Button variant="secondary" onClick={() => void download()} isLoading={busy}>Download all (.zip)</Button>
      {problem && <ProblemAlert problem={problem} level="h3" />}
    </div>
  )
}

function save(file: Blob, name: string) {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Browsers begin to read it only after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
