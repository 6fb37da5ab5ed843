import { useSearchParams } from 'react-router-dom'
import { Button, Form, FormGroup, FormSelect, FormSelectOption, Radio, useWizardContext } from '@patternfly/react-core'
import { Field } from '../states/Field'
import { errorOf, FormErrors, stillWrong, type FormError } from '../states/FormErrors'
import { useInstall, type Install } from './context'
import { channelOf, channelsOf } from './form'
import { ModeFields } from './ModeFields'
import { wrongIn } from './modes'
import { StepFooter } from './StepFooter'
import { StepTitle } from './StepTitle'

// WhereStep is which version goes where.
export function WhereStep() {
  const install = useInstall()
  const { operator, form, change } = install
  const errors = stillWrong(install.errors, missingIn(install))
  return (
    <Form className="tabard-form" onSubmit={(event) => event.preventDefault()}>
      <StepTitle>Version and namespace</StepTitle>
      <FormErrors errors={errors} sent={install.errors} />
      <Version />
      <Channel />
      <Field
        id="namespace"
        label="Namespace"
        isRequired
        help={operator.suggestedNamespace ? `The author suggests ${operator.suggestedNamespace}.` : 'One of its own is best: in a shared one, operators are upgraded together.'}
        value={form.namespace}
        onChange={(namespace) => change({ namespace })}
        error={errorOf(errors, 'namespace')}
      />
      <ModeFields errors={errors} />
      <FormGroup role="radiogroup" isStack label="Upgrades" fieldId="approval">
        <Radio
          id="approval-manual"
          name="approval"
          label="Manual"
          description="Each upgrade waits until somebody has seen what it asks of the cloud. Choose this for operators with a role."
          isChecked={form.approval === 'manual'}
          onChange={() => change({ approval: 'manual' })}
        />
        <Radio
          id="approval-automatic"
          name="approval"
          label="Automatic"
          description="Upgrades come by themselves. A version that asks for more than the role allows may stop working."
          isChecked={form.approval === 'automatic'}
          onChange={() => change({ approval: 'automatic' })}
        />
      </FormGroup>
    </Form>
  )
}

function Version() {
  const { operator, form, change } = useInstall()
  const [, setParams] = useSearchParams()
  return (
    <FormGroup label="Version" fieldId="version">
      <FormSelect
        id="version"
        value={form.csv}
        onChange={(_event, csv) => {
          change({ csv, channel: '' })
          setParams({ version: csv }, { replace: true })
        }}
      >
        {operator.versions.map(({ csv, version, deprecated }) => (
          <FormSelectOption key={csv} value={csv} label={`${version ?? csv}${deprecated ? ' (deprecated)' : ''}`} />
        ))}
      </FormSelect>
    </FormGroup>
  )
}

function Channel() {
  const { operator, form, change } = useInstall()
  const channels = channelsOf(operator, form.csv)
  if (channels.length < 2) return null
  return (
    <FormGroup label="Channel" fieldId="channel">
      <FormSelect id="channel" value={channelOf(operator, form)} onChange={(_event, channel) => change({ channel })}>
        {channels.map((name) => <FormSelectOption key={name} value={name} label={name === operator.defaultChannel ? `${name} (default)` : name} />)}
      </FormSelect>
    </FormGroup>
  )
}

function missingIn({ operator, form }: Install): FormError[] {
  const missing = form.namespace.trim() === '' ? [{ id: 'namespace', text: 'Namespace is empty' }] : []
  return [...missing, ...wrongIn(operator, form)]
}

export function WhereFooter() {
  const install = useInstall()
  const { goToNextStep } = useWizardContext()
  const next = () => {
    const errors = missingIn(install)
    install.setErrors(errors)
    if (errors.length === 0) void goToNextStep()
  }
  return <StepFooter isFirst><Button onClick={next}>Next</Button></StepFooter>
}
