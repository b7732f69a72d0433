/**
 * `npm run expressions`: lists every regular expression of `src` with the proof that its work grows with its text alone, or
 * with its bound. Exit code 1 where one has neither.
 */
import { sourceExpressions } from './source.ts';
import { judge } from './verdicts.ts';

const verdicts = sourceExpressions().map((one) => judge(one));
for (const verdict of verdicts) {
  const { file, line, text } = verdict.expression;
  const says = verdict.safe ? verdict.because : `NOT SAFE: ${verdict.why}`;
  console.log(`src/${file}:${line}  ${text}  ${says}`);
}
const unsafe = verdicts.filter(({ safe }) => !safe).length;
console.log(`${verdicts.length} expressions, ${unsafe} without a proof or a bound`);
if (unsafe > 0) process.exitCode = 1;
