import { useCallback, useEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router-dom'
import { Wizard, WizardStep } from '@patternfly/react-core'
import type { InstallPlan, Operator, Reason, Written } from '../api/types'
import { useAsk } from '../api/useAsk'
import { useWrite } from '../api/useWrite'
import { cloudsOf } from '../roles/fields'
import { chosenCloud } from '../roles/RoleForm'
import type { FormError } from '../states/FormErrors'
import { CheckFooter, CheckStep } from './CheckStep'
import { InstallContext, type Install } from './context'
import { questionOf, useInstallForm } from './form'
import { ReviewFooter, ReviewStep } from './ReviewStep'
import { RoleFooter, RoleStep } from './RoleStep'
import { WhereFooter, WhereStep } from './WhereStep'

interface Props { operator: Operator; cloud?: string; page: string }

export function InstallWizard({ operator, cloud, page }: Props) {
  const navigate = useNavigate()
  const install = useWhole(operator, cloud)
  // While the install is written, no step can be left: the answer belongs to what is shown.
  const { busy } = install.writing
  useEffect(() => {
    // On a narrow screen the steps open by a button that shows the step. PatternFly gives it another name,
    // by which who speaks to the browser does not find it.
    document.querySelector('.tabard-wizard .pf-v6-c-wizard__toggle')?.removeAttribute('aria-label')
  })
  return (
    <InstallContext.Provider value={install}>
      <Wizard
        className="tabard-wizard"
        navAriaLabel="Steps of the install"
        isVisitRequired
        shouldFocusContent={false}
        onStepChange={() => {
          install.setErrors([])
          install.writing.forget()
        }}
        onClose={() => { if (!busy) navigate(page) }}
      >
        <WizardStep id="where" isDisabled={busy} name="Version and namespace" footer={<WhereFooter />}><WhereStep /></WizardStep>
        <WizardStep id="role" isDisabled={busy} name="Role" footer={<RoleFooter />}><RoleStep /></WizardStep>
        <WizardStep id="check" isDisabled={busy} name="Check" footer={<CheckFooter />}><CheckStep /></WizardStep>
        <WizardStep id="review" name="Review" footer={<ReviewFooter />}><ReviewStep /></WizardStep>
      </Wizard>
    </InstallContext.Provider>
  )
}

// useWhole is the state of the whole wizard. A plan is only good for the question that it answers:
// when the form changes, there is none, and a risk that was taken is taken no more.
function useWhole(operator: Operator, cloud?: string): Install {
  const [form, change] = useInstallForm(operator)
  const [errors, setErrors] = useState<FormError[]>([])
  const [asked, setAsked] = useState('')
  const [accepted, setAccepted] = useState<{ risk: string; reason: Reason }>()
  const moved = useRef(false)
  const { data, problem, busy, ask } = useAsk<InstallPlan>()
  const writing = useWrite<Written>()

  const offered = cloudsOf(operator, cloud)
  const question = questionOf(operator, form, chosenCloud(form.role, offered))
  const key = JSON.stringify(question)
  const latest = useRef(question)
  latest.current = question
  const look = useCallback(() => {
    setAsked(JSON.stringify(latest.current))
    void ask('installs/plan', latest.current)
  }, [ask])

  const isCurrent = asked === key
  const plan = isCurrent ? data : undefined
  const risk = plan && `${plan.digest} ${plan.judgement.verdict} ${plan.accept}`
  return {
    operator, offered, form, change, question, plan, problem: isCurrent ? problem : undefined, look,
    looking: isCurrent && busy, writing,
    taken: accepted && accepted.risk === risk ? accepted.reason : undefined,
    take: (reason) => risk && setAccepted({ risk, reason }), errors, setErrors, moved,
  }
}
