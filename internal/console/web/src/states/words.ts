// count is a number with its noun, in one of two forms.
export function count(n: number, one: string, many: string): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`
}

// sentence begins with a capital and ends with a full stop. The server's texts may be parts of one.
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?:]$/.test(begun) || begun === '' ? begun : `${begun}.`
}

// isCommand is whether a text is something to type.
export function isCommand(text: string): boolean {
  return /^(tabard|kubectl|oc|aws) /.test(text)
}

// timeInWords says the zone, too: who reads it compares it with the times of a cluster.
export function timeInWords(time: string): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? time : date.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'long' })
}
