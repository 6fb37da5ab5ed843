import { useNavigate } from 'react-router-dom'
import { Alert, AlertActionLink, Label, List, ListItem, Stack, Title, useWizardContext } from '@patternfly/react-core'
import type { Change, InstallPlan, Problem } from '../api/types'
import { pathOf } from '../installed/words'
import { Warnings } from '../roles/JudgementView'
import { announce } from '../shell/announce'
import { CodeText } from '../states/CodeText'
import { Command } from '../states/Command'
import { ProblemAlert } from '../states/ProblemAlert'
import { sentence } from '../states/words'
import { WriteButton } from '../states/WriteButton'
import { useInstall } from './context'
import { forget } from './form'
import { StepFooter } from './StepFooter'
import { StepTitle } from './StepTitle'

// ReviewStep is what the install will write.
export function ReviewStep() {
  const { plan, problem, looking, writing } = useInstall()
  const { goToStepById } = useWizardContext()
  const lookAgain = <AlertActionLink onClick={() => goToStepById('check')}>Look again</AlertActionLink>
  return (
    <Stack hasGutter>
      <StepTitle>Review</StepTitle>
      {writing.problem && <ProblemAlert level="h3" problem={writing.problem} actions={lookAgain} />}
      {plan ? <Reviewed plan={plan} /> : (
        <Alert variant="warning" isInline component="h3" title={titleOf(problem, looking)} actionLinks={lookAgain}>
          <p className="tabard-breaks">{whyNoPlan(problem, looking)}</p>
        </Alert>
      )}
    </Stack>
  )
}

function titleOf(problem: Problem | undefined, looking: boolean): string {
  if (looking) return 'The check still runs'
  return problem ? 'The check has not passed' : 'This has not been checked'
}

function whyNoPlan(problem: Problem | undefined, looking: boolean): string {
  if (looking) return 'Its result is not here yet.'
  return problem ? `${problem.title}. ${sentence(problem.detail)}` : 'What you filled in has changed since the check.'
}

function Reviewed({ plan }: { plan: InstallPlan }) {
  const { taken } = useInstall()
  return (
    <>
      {plan.neighbours.length > 0 && (
        <Alert variant="warning" isInline component="h3" title="The namespace is shared">
          <p className="tabard-breaks">The plans of all its operators are approved together. Here are also: {plan.neighbours.join(', ')}.</p>
        </Alert>
      )}
      <Warnings warnings={plan.warnings} />
      <Title headingLevel="h3">What it does</Title>
      <List isPlain>{plan.changes.map((change) => <ListItem key={`${change.kind} ${change.name}`}><OneChange change={change} /></ListItem>)}</List>
      <Title headingLevel="h3">The objects</Title>
      <CodeText text={plan.manifests} name="the objects" />
      <Command command={plan.command + (taken?.flag ?? '')} label="The command that does the same" />
    </>
  )
}

function OneChange({ change }: { change: Change }) {
  return (
    <div className="tabard-breaks">
      <Label isCompact color={change.exists ? 'grey' : 'green'}>{change.exists ? '= there already' : '+ made'}</Label>{' '}
      <strong>{change.kind} {change.name}</strong>
      <div>{sentence(change.sentence)}</div>
    </div>
  )
}

export function ReviewFooter() {
  const { operator, plan, question, taken, writing } = useInstall()
  const navigate = useNavigate()
  const install = async () => {
    if (!plan) return
    const written = await writing.write('installs', { ...question, digest: plan.digest, accept: taken && plan.accept, reason: taken?.text })
    if (!written) return
    forget(operator.id)
    announce(written.said.map(sentence).join(' '))
    if (writing.here.current) navigate(pathOf({ namespace: written.namespace, subscription: written.name }))
  }
  const why = plan && (plan.mayPass || taken) ? undefined : 'It has to be checked first.'
  return (
    <StepFooter>
      <WriteButton onClick={() => void install()} isLoading={writing.busy} why={why}>Install</WriteButton>
    </StepFooter>
  )
}
