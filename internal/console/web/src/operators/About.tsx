import { Alert } from '@patternfly/react-core'
import type { Operator } from '../api/types'
import { sentence } from '../states/words'
import { placeOf } from './words'

// About is what holds for all tabs: which version they are of, and what speaks against it.
export function About({ operator }: { operator: Operator }) {
  const { chosen, deprecated, installed = [] } = operator
  const version = operator.versions.find(({ csv }) => csv === chosen?.csv)
  return (
    <>
      <p className="tabard-breaks">
        {chosen ? `Version ${chosen.version ?? 'not known'} (${chosen.csv})` : 'No version could be read'}
        {chosen?.provider && `, by ${chosen.provider}`}, from {placeOf(operator.source)}.
        {installed.length > 0 && ` Installed in ${installed.map(({ namespace }) => namespace).join(', ')}.`}
      </p>
      {deprecated && <Deprecated title="This operator is deprecated" why={deprecated} />}
      {version?.deprecated && <Deprecated title="This version is deprecated" why={version.deprecated} />}
    </>
  )
}

function Deprecated({ title, why }: { title: string; why: string }) {
  return <Alert variant="warning" isInline component="h2" title={title}><p className="tabard-breaks">{sentence(why)}</p></Alert>
}
