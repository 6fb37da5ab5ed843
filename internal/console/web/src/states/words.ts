// count is a number with its noun, in one of two forms.
export function count(n: number, one: string, many: string): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`
}

// sentence begins with a capital and ends with a full stop. The server's texts may be parts of one.
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?:]$/.test(begun) || begun === '' ? begun : `${begun}.`
}
