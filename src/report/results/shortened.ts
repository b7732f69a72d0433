/** The beginning of a text, never with half of a character in two code units at its end. @param mark stands where something was cut off */
export function shortened(text: string, most: number, mark = ''): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}${mark}`;
}
