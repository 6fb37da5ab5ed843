import { Alert, Stack } from '@patternfly/react-core'
import { NoRights } from '../states/NoRights'
import { rightOf } from '../states/right'
import { sentence } from '../states/words'

interface Props { title: string; why: string }

// NotKnown says why a part of the page is not known, with the right that is missing where that is it.
export function NotKnown({ title, why }: Props) {
  return (
    <Alert variant="warning" isInline component="h3" title={title}>
      <Stack hasGutter>
        <p className="tabard-breaks">{sentence(why)}</p>
        {rightOf(why) && <NoRights missing={why} />}
      </Stack>
    </Alert>
  )
}
