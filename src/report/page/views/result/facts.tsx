import type { ComponentChildren, JSX } from 'preact';
import type { PageDetail, PageResult } from '../../../results/wire.ts';
import { useApp } from '../../parts/use.ts';
import { count, duration, money, size, time } from '../../text/format.ts';

type Fact = readonly [name: string, value: ComponentChildren];

/** The table of a result's variables, cost, tokens, times and origin. */
export function Facts(props: { readonly result: PageResult; readonly detail: PageDetail }): JSX.Element {
  const { result, detail } = props;
  const { summary } = useApp().source;
  const variables = (summary?.variables ?? []).map(({ name }, n): Fact => [name, result.vars[n] ?? '']);
  const counts = Object.entries(detail.tokens ?? {}).map(([name, value]): Fact => [name, count(value)]);
  return (
    <>
      <Table name="Variables" facts={variables} />
      <Table
        name="Cost and time"
        facts={[
          ['Cost', detail.cost === undefined ? undefined : money(detail.cost)],
          ['Duration', result.seconds === undefined ? undefined : duration(result.seconds)],
          ['Submitted', detail.submittedAt === undefined ? undefined : time(detail.submittedAt)],
          ['Finished', result.finishedAt === undefined ? undefined : time(result.finishedAt)],
          ['Attempts', detail.attempts === undefined ? undefined : count(detail.attempts)],
        ]}
      />
      <Table name="Tokens" facts={counts} />
      <Table
        name="File"
        facts={[
          ['Name', result.file],
          ['Size', detail.bytes === undefined ? undefined : size(detail.bytes)],
          ['Pixels', result.width && result.height ? `${result.width} × ${result.height}` : undefined],
          ['Type', detail.mime],
          ['SHA-256', detail.sha256],
        ]}
      />
      <Table
        name="Request"
        facts={[
          ['Model', detail.model],
          ['Speed', detail.speed],
          ['Button', detail.button],
          ['Job', result.job],
          ['Task', detail.taskId],
          ['Parent task', detail.parentTaskId],
          ['Request id', detail.requestId],
          ['Finish reason', detail.finishReason],
          ['Block reason', detail.blockReason],
          ['Image address', detail.imageUrl],
        ]}
      />
    </>
  );
}

function Table({
  name,
  facts,
}: {
  readonly name: string;
  readonly facts: readonly Fact[];
}): JSX.Element | null {
  const known = facts.filter(([, value]) => value !== undefined && value !== '');
  if (known.length === 0) return null;
  return (
    <section class="block">
      <h3>{name}</h3>
      <table class="facts">
        <tbody>
          {known.map(([label, value]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>
                <bdi>{value}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
