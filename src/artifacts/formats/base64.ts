/** Characters that are decoded at a time, so that a large image is never in memory decoded as a whole. */
const stride = 65_536;

/**
 * Decodes a Base64 text in pieces. Accepts both alphabets of RFC 4648, line breaks and missing padding: gateways write all of these.
 *
 * @returns false, as the generator's last value, for a text that is not Base64
 */
export function* fromBase64(text: string): Generator<Buffer, boolean> {
  let end = text.length;
  while (end > 0 && /[\s=]/.test(text.charAt(end - 1))) end -= 1;
  if (text.slice(end).replaceAll(/\s/g, '').length > 2) return false;
  let rest = '';
  for (let at = 0; at < end; at += stride) {
    const digits = rest + text.slice(at, Math.min(at + stride, end)).replaceAll(/\s+/g, '');
    if (!/^[A-Za-z0-9+/_-]*$/.test(digits)) return false;
    const whole = digits.length - (digits.length % 4);
    rest = digits.slice(whole);
    if (whole > 0) yield Buffer.from(digits.slice(0, whole), 'base64');
  }
  // One digit alone holds six bits, less than a byte.
  if (rest.length === 1) return false;
  if (rest !== '') yield Buffer.from(rest, 'base64');
  return true;
}
