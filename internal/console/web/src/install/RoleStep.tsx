import { Link } from 'react-router-dom'
import { Button, Form, FormGroup, Radio, useWizardContext } from '@patternfly/react-core'
import { missingIn } from '../roles/fields'
import { chosenCloud, RoleForm } from '../roles/RoleForm'
import { FormErrors, stillWrong, type FormError } from '../states/FormErrors'
import { useInstall, type Install } from './context'
import { StepFooter } from './StepFooter'
import { StepTitle } from './StepTitle'

const choices = [
  { how: 'have', label: 'I have a role', description: 'You know its ARN, or what your cloud has instead.' },
  { how: 'need', label: 'I need a role', description: 'The owner of the cloud account makes it, from files that you send.' },
  { how: 'without', label: 'Without a role', description: 'The operator gets no access to the cloud. You can give it a role later.' },
] as const

// RoleStep is which role the operator takes.
export function RoleStep() {
  const install = useInstall()
  const { operator, offered, form, change } = install
  const errors = stillWrong(install.errors, wrongIn(install))
  return (
    <Form className="tabard-form" onSubmit={(event) => event.preventDefault()}>
      <StepTitle>Role</StepTitle>
      <FormErrors errors={errors} sent={install.errors} />
      <FormGroup role="radiogroup" isStack label="The role of the operator" fieldId="how" isRequired>
        {choices.map(({ how, label, description }) => (
          <Radio
            key={how}
            id={`how-${how}`}
            name="how"
            label={label}
            description={description}
            isChecked={form.how === how}
            onChange={() => change({ how })}
          />
        ))}
      </FormGroup>
      {form.how === 'have' && <RoleForm offered={offered} fields={form.role} onChange={(role) => change({ role })} errors={errors} />}
      {form.how === 'need' && (
        <p>
          <Link id="to-handoff" to={`/operators/${encodeURIComponent(operator.id)}/handoff?${new URLSearchParams({ version: form.csv })}`}>Make the files of the hand-off</Link>. When
          you have got the ARN, come back: what you have filled in here is kept while this tab is open.
        </p>
      )}
    </Form>
  )
}

function wrongIn({ form, offered }: Install): FormError[] {
  if (form.how === 'have') return missingIn(form.role, chosenCloud(form.role, offered))
  if (form.how === 'need') return [{ id: 'to-handoff', text: 'To go on you need a role: make the files of the hand-off, or choose another answer' }]
  return form.how === '' ? [{ id: 'how-have', text: 'Say which role the operator takes' }] : []
}

export function RoleFooter() {
  const install = useInstall()
  const { goToNextStep } = useWizardContext()
  const next = () => {
    const errors = wrongIn(install)
    install.setErrors(errors)
    if (errors.length === 0) void goToNextStep()
  }
  return <StepFooter><Button onClick={next}>Next</Button></StepFooter>
}
