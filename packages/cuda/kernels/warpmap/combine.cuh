// What an insert does to the value of a key that is there: the rules of engine/apply.ts, bit for bit, as atomic changes
// of a value of one or two words. Changes of one value by many threads end in what some order of them gives.
#pragma once
#include "atomics.cuh"

namespace warpmap {

/// `Rule` of engine/apply.ts.
enum Rule : u32 {
  KEEP = 0,
  ASSIGN = 1,
  ADD_INTEGER = 2,
  ADD_FLOAT = 3,
  MIN_UNSIGNED = 4,
  MAX_UNSIGNED = 5,
  MIN_SIGNED = 6,
  MAX_SIGNED = 7,
  MIN_FLOAT = 8,
  MAX_FLOAT = 9,
  AND = 10,
  OR = 11,
  XOR = 12,
};

template <class T> struct SignedOf;
template <> struct SignedOf<u32> {
  using Type = int;
};
template <> struct SignedOf<u64> {
  using Type = long long;
};

constexpr u32 CANONICAL_NAN = 0x7fc00000u;
constexpr u64 CANONICAL_NAN_64 = 0x7ff8000000000000ull;

/// a + b, rounded once; NaN is canonical. `__fadd_rn` keeps subnormals whatever the compiler's flags.
WARPMAP_DEVICE u32 addFloats(u32 a, u32 b) {
  const float sum = __fadd_rn(__uint_as_float(a), __uint_as_float(b));
  return sum != sum ? CANONICAL_NAN : __float_as_uint(sum);
}

WARPMAP_DEVICE u64 addFloats(u64 a, u64 b) {
  const double sum = __dadd_rn(__longlong_as_double((long long)a), __longlong_as_double((long long)b));
  return sum != sum ? CANONICAL_NAN_64 : u64(__double_as_longlong(sum));
}

template <class T> WARPMAP_DEVICE void addFloatByExchange(T* at, T value) {
  for (T seen = loadRelaxed(at);;) {
    const T sum = addFloats(seen, value);
    if (sum == seen) return;
    const T old = compareExchange(at, seen, sum);
    if (old == seen) return;
    seen = old;
  }
}

/// Adds an f32. The hardware's addition takes subnormals for 0; where the summand is 2^-100 or more in magnitude that
/// changes no sum: a subnormal is less than half a unit in its last place, and no difference is subnormal.
WARPMAP_DEVICE void addFloat(u32* at, u32 value) {
  const u32 exponent = (value >> 23) & 0xff;
  if (exponent < 27 || exponent == 0xff) return addFloatByExchange(at, value);
  const float old = atomicAdd((float*)at, __uint_as_float(value));
  // whoever makes a NaN stores the canonical one, so the last store of any order is canonical
  if (old != old) storeRelaxed(at, CANONICAL_NAN);
}

WARPMAP_DEVICE void addFloat(u64* at, u64 value) {
  const double summand = __longlong_as_double((long long)value);
  const double old = atomicAdd((double*)at, summand);
  const double sum = __dadd_rn(old, summand);
  if (sum != sum) storeRelaxed(at, CANONICAL_NAN_64);
}

/// The lesser of two signed numbers, or the greater, where it is not stored already.
template <class T> WARPMAP_DEVICE void lowerSigned(T* at, T value) {
  using Signed = typename SignedOf<T>::Type;
  if (Signed(value) < Signed(loadRelaxed(at))) atomicMin((Signed*)at, Signed(value));
}
template <class T> WARPMAP_DEVICE void raiseSigned(T* at, T value) {
  using Signed = typename SignedOf<T>::Type;
  if (Signed(value) > Signed(loadRelaxed(at))) atomicMax((Signed*)at, Signed(value));
}
template <class T> WARPMAP_DEVICE void lowerUnsigned(T* at, T value) {
  if (value < loadRelaxed(at)) atomicMin(at, value);
}
template <class T> WARPMAP_DEVICE void raiseUnsigned(T* at, T value) {
  if (value > loadRelaxed(at)) atomicMax(at, value);
}

/// Changes the value at `at` as `rule` says, by one that comes. Reads first, so that a value that many threads meet is
/// changed only by those that change it.
template <class T> WARPMAP_DEVICE_CALL void combineAt(u32 rule, T* at, T value) {
  // of floats as numbers of sign and magnitude, negative ones are ordered the other way round
  const bool isNegative = (value >> (8 * sizeof(T) - 1)) != 0;
  switch (rule) {
    case ADD_INTEGER:
      atomicAdd(at, value);
      return;
    case ADD_FLOAT:
      return addFloat(at, value);
    case MIN_UNSIGNED:
      return lowerUnsigned(at, value);
    case MAX_UNSIGNED:
      return raiseUnsigned(at, value);
    case MIN_SIGNED:
      return lowerSigned(at, value);
    case MAX_SIGNED:
      return raiseSigned(at, value);
    case MIN_FLOAT:
      return isNegative ? raiseUnsigned(at, value) : lowerSigned(at, value);
    case MAX_FLOAT:
      return isNegative ? lowerUnsigned(at, value) : raiseSigned(at, value);
    case AND:
      if ((loadRelaxed(at) & ~value) != 0) atomicAnd(at, value);
      return;
    case OR:
      if ((value & ~loadRelaxed(at)) != 0) atomicOr(at, value);
      return;
    case XOR:
      atomicXor(at, value);
      return;
    default:
      return;
  }
}

/// The same with the rules that need no look at what is stored.
template <class T> WARPMAP_DEVICE void changeAt(u32 rule, T* at, T value) {
  if (rule == KEEP) return;
  if (rule == ASSIGN) return storeRelaxed(at, value);
  combineAt(rule, at, value);
}

}  // namespace warpmap
