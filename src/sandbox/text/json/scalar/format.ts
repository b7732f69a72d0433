import type { Random } from '../../../draw/canvas/random.ts';
import { uuidOf } from '../../../seeded.ts';

/** A text of a format of JSON Schema or OpenAPI; undefined for one that asks for nothing in particular. */
export function textOfFormat(format: string, random: Random): string | undefined {
  const two = (low: number, high: number): string => String(random.int(low, high)).padStart(2, '0');
  const date = (): string => `20${two(20, 26)}-${two(1, 12)}-${two(1, 28)}`;
  const time = (): string => `${two(0, 23)}:${two(0, 59)}:${two(0, 59)}Z`;
  const host = (): string => `www.example.${random.pick(['org', 'com', 'net'])}`;
  const hex = (): string => random.int(0, 0xffff).toString(16);
  switch (format) {
    case 'date-time':
      return `${date()}T${time()}`;
    case 'date':
      return date();
    case 'time':
      return time();
    case 'duration':
      return `PT${random.int(1, 59)}M`;
    case 'email':
    case 'idn-email':
      return `${random.pick(['ada', 'ben', 'cleo'])}${random.int(1, 99)}@example.org`;
    case 'hostname':
    case 'idn-hostname':
      return host();
    case 'ipv4':
      return `192.0.2.${random.int(1, 254)}`;
    case 'ipv6':
      return `2001:db8:${hex()}:${hex()}::1`;
    case 'uri':
    case 'iri':
    case 'url':
      return `https://${host()}/${random.int(1, 999)}`;
    case 'uri-reference':
    case 'iri-reference':
      return `/${random.int(1, 999)}`;
    case 'uuid':
      return uuidOf(`format ${random.int(0, 2 ** 31)} ${random.int(0, 2 ** 31)}`);
    case 'json-pointer':
      return `/${random.int(0, 9)}`;
    case 'regex':
      return '^[a-z]+$';
    case 'byte':
      return Buffer.from(`bytes ${random.int(0, 999)}`).toString('base64');
    default:
      return undefined;
  }
}
