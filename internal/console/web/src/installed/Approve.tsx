import { useState } from 'react'
import { useNavigate } from 'react-router-dom'
import { AlertActionLink, Stack, Title } from '@patternfly/react-core'
import type { Reason, Upgrade, Written } from '../api/types'
import type { Writing } from '../api/useWrite'
import { Risk } from '../roles/Risk'
import { announce } from '../shell/announce'
import { Command } from '../states/Command'
import { ProblemAlert } from '../states/ProblemAlert'
import { sentence } from '../states/words'
import { WriteButton } from '../states/WriteButton'
import { pathOf } from './words'

interface Props { upgrade: Upgrade; ns: string; name: string; lookAgain: () => void; writing: Writing<Written> }

// Approve approves the plan as it is on the page. If it has changed, nothing is approved.
export function Approve({ upgrade, ns, name, lookAgain, writing }: Props) {
  const navigate = useNavigate()
  const [taken, setTaken] = useState<Reason>()
  const { problem, busy, write, here } = writing
  const { plan, verdict, digest, mayPass, accept, annotation, command } = upgrade
  const approve = async () => {
    const path = `installs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}/approve`
    const written = await write(path, { plan, verdict, digest, accept: taken && accept, reason: taken?.text })
    if (!written) return
    announce(written.said.map(sentence).join(' '))
    if (here.current) navigate(pathOf({ namespace: ns, subscription: name }))
  }
  return (
    <Stack hasGutter>
      <Title headingLevel="h2">Approve</Title>
      {problem && <ProblemAlert level="h3" problem={problem} actions={<AlertActionLink onClick={lookAgain}>Look again</AlertActionLink>} />}
      <Risk name={name} verdict={verdict} mayPass={mayPass} accept={accept} annotation={annotation} taken={taken} onTake={setTaken} />
      <WriteButton
        onClick={() => void approve()}
        isLoading={busy}
        why={mayPass || taken ? undefined : 'Not every role is known to be enough.'}
      >
        Approve
      </WriteButton>
      <Command command={command + (taken?.flag ?? '')} label="The command that approves the same" />
    </Stack>
  )
}
