import { FormGroup, Radio } from '@patternfly/react-core'
import { Field } from '../states/Field'
import { errorOf, type FormError } from '../states/FormErrors'
import { useInstall } from './context'
import { idOf, isSupported, modes } from './modes'

// ModeFields are which namespaces the operator watches. A mode that the version does not support is
// shown all the same, with the reason.
export function ModeFields({ errors }: { errors: FormError[] }) {
  const { operator, form, change } = useInstall()
  return (
    <>
      <FormGroup role="radiogroup" isStack label="Install mode" fieldId="mode">
        {modes.map((one) => {
          const supported = isSupported(operator, form.csv, one)
          return (
            <Radio
              key={one.mode}
              id={idOf(one)}
              name="mode"
              label={one.label}
              description={supported ? one.description : `${one.description} This version does not support it.`}
              isDisabled={!supported}
              isChecked={form.mode === one.mode}
              onChange={() => change({ mode: one.mode })}
            />
          )
        })}
      </FormGroup>
      {form.mode === 'single' && (
        <Field
          id="watched"
          label="Watched namespace"
          isRequired
          value={form.watched}
          onChange={(watched) => change({ watched })}
          error={errorOf(errors, 'watched')}
        />
      )}
    </>
  )
}
