import { useEffect } from 'react'
import { AlertActionLink, Button, Stack, useWizardContext } from '@patternfly/react-core'
import type { InstallPlan } from '../api/types'
import { announce } from '../shell/announce'
import { JudgementView, Warnings } from '../roles/JudgementView'
import { Risk, riskButton } from '../roles/Risk'
import { verdictInWords } from '../roles/words'
import { FormErrors } from '../states/FormErrors'
import { Loading } from '../states/Loading'
import { ProblemAlert } from '../states/ProblemAlert'
import { useInstall } from './context'
import { StepFooter } from './StepFooter'
import { StepTitle } from './StepTitle'

// CheckStep asks for the plan each time it comes: the role may have been changed in the cloud.
export function CheckStep() {
  const { plan, problem, look, errors } = useInstall()
  const { goToStepById } = useWizardContext()
  useEffect(look, [look])
  return (
    <Stack hasGutter>
      <StepTitle>Check</StepTitle>
      <FormErrors errors={errors} />
      {problem && (
        <ProblemAlert
          level="h3"
          problem={problem}
          actions={(
            <>
              <AlertActionLink onClick={() => goToStepById('role')}>Back to the role</AlertActionLink>
              <AlertActionLink onClick={() => goToStepById('where')}>Back to version and namespace</AlertActionLink>
              <AlertActionLink onClick={look}>Check again</AlertActionLink>
            </>
          )}
        />
      )}
      {plan && <Checked plan={plan} />}
      {!plan && !problem && <Loading what="the check of the role" />}
    </Stack>
  )
}

function Checked({ plan }: { plan: InstallPlan }) {
  const { operator, taken, take } = useInstall()
  const said = verdictInWords(plan.judgement.verdict)
  useEffect(() => announce(said), [said])
  return (
    <>
      <JudgementView judgement={plan.judgement} />
      <Warnings warnings={plan.warnings} />
      <Risk
        name={operator.package}
        verdict={plan.judgement.verdict}
        mayPass={plan.mayPass}
        accept={plan.accept}
        taken={taken}
        onTake={take}
      />
    </>
  )
}

const notEnough = 'The role is not known to be enough: choose another role, or take the risk'

export function CheckFooter() {
  const { plan, looking, taken, setErrors } = useInstall()
  const { goToNextStep } = useWizardContext()
  const next = () => {
    const mayGoOn = plan && (plan.mayPass || taken)
    setErrors(mayGoOn ? [] : [{ id: plan?.accept ? riskButton : 'step-title', text: plan ? notEnough : 'The role was not checked' }])
    if (mayGoOn) void goToNextStep()
  }
  return <StepFooter><Button onClick={next} isLoading={looking} isAriaDisabled={looking}>Next</Button></StepFooter>
}
