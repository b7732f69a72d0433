/**
 * Reads the little XML that S3 uses: elements whose attributes are ignored, never nested in elements of the same name. Anything else in
 * a text is skipped.
 */

/** Returns the contents of every element of a name, in order. */
export function elements(xml: string, name: string): readonly string[] {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const found: string[] = [];
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end < 0) break;
    found.push(xml.slice(at + open.length, end));
    at = end + close.length;
  }
  return found;
}

/** Returns the text of the first element of a name; undefined if there is none. */
export function textOf(xml: string, name: string): string | undefined {
  const [found] = elements(xml, name);
  return found === undefined ? undefined : plain(found);
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const plain = (text: string): string =>
  text.replaceAll(
    /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/g,
    (all, hex, digits, name) => {
      if (typeof name === 'string') return named[name] ?? all;
      const code = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(digits);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
