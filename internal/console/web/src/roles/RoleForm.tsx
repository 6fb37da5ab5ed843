import { FormGroup, FormSelect, FormSelectOption } from '@patternfly/react-core'
import { cloudName } from '../operators/words'
import { Field } from '../states/Field'
import { errorOf, type FormError } from '../states/FormErrors'
import { fieldsOf, type Cloud, type RoleFields } from './fields'
import { Paste } from './Paste'

interface Props {
  offered: Cloud[]
  fields: RoleFields
  onChange: (fields: RoleFields) => void
  errors: FormError[]
}

// RoleForm is the fields of a role of one cloud.
export function RoleForm({ offered, fields, onChange, errors }: Props) {
  const cloud = chosenCloud(fields, offered)
  return (
    <>
      {offered.length > 1 && (
        <FormGroup label="Cloud" fieldId="role-cloud">
          <FormSelect id="role-cloud" value={cloud} onChange={(_event, value) => onChange({ ...fields, cloud: offered.find((name) => name === value) })}>
            {offered.map((name) => <FormSelectOption key={name} value={name} label={cloudName(name)} />)}
          </FormSelect>
        </FormGroup>
      )}
      <Paste onFound={(found) => onChange({ ...fields, ...found })} offered={offered} />
      {fieldsOf[cloud].map(({ name, label, help, isOptional }) => (
        <Field
          key={name}
          id={`role-${name}`}
          label={isOptional ? `${label} (optional)` : label}
          help={help}
          isRequired={!isOptional}
          value={fields[name]}
          onChange={(value) => onChange({ ...fields, [name]: value })}
          error={errorOf(errors, `role-${name}`)}
        />
      ))}
      {cloud === 'aws' && (
        <Field
          id="role-documents"
          label="What the AWS command line printed of the role (optional)"
          help="The answers of aws iam get-role, get-role-policy and get-policy-version, one after the other. Without them the console reads the role from AWS, if you may."
          rows={4}
          value={fields.documents}
          onChange={(documents) => onChange({ ...fields, documents })}
        />
      )}
    </>
  )
}

// chosenCloud is that of the fields, if it is offered.
export function chosenCloud({ cloud }: RoleFields, offered: Cloud[]): Cloud {
  return offered.find((name) => name === cloud) ?? offered[0] ?? 'aws'
}
