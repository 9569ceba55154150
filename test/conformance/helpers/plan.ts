/** Plans of calls, for tests. */
import { expect } from "vitest";
import type { Plan } from "../../../src/index.js";

/** What a call answers, and the plan that it tells: exactly one, before the answer comes. */
export async function planned<T>(
  call: (onPlan: (plan: Plan) => void) => Promise<T>,
): Promise<{ answer: T; plan: Plan }> {
  const plans: Plan[] = [];
  const answer = await call((plan) => plans.push(plan));
  expect(plans).toHaveLength(1);
  return { answer, plan: plans[0] };
}
