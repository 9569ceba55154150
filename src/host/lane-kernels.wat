;; Loops over a block of rows; lane-loops.ts and group-loops.ts have the same in JavaScript. They take half as long, as
;; two lanes are added up at once and no array's kind and length are looked at.
;;
;; Memory, in bytes (lane-kernels.ts): groups of the rows from 0, words from 16384, doubles from 32768, rests of pairs of
;; doubles from 65536 and the rows of these pairs from 98304. Lane k of group g is the double at $at + g × $stride + 8 k.
(module
  (memory (export "memory") 24 24)

  ;; Finds groups by an array of group + 1, which begins with the key $least and has $last + 1 places. Four keys a turn, up
  ;; to the first four of which one is not there; answers how many it found.
  (func (export "findNear") (param $count i32) (param $least i32) (param $near i32) (param $last i32) (result i32)
    (local $row i32) (local $end i32) (local $keys v128)
    (local $a i32) (local $b i32) (local $c i32) (local $d i32)
    (local.set $end (i32.shl (i32.and (local.get $count) (i32.const -4)) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $row) (local.get $end)))
        (local.set $keys (i32x4.sub (v128.load offset=16384 (local.get $row)) (i32x4.splat (local.get $least))))
        (br_if $done (v128.any_true (i32x4.gt_u (local.get $keys) (i32x4.splat (local.get $last)))))
        (local.set $keys (i32x4.add (i32x4.shl (local.get $keys) (i32.const 2)) (i32x4.splat (local.get $near))))
        (local.set $a (i32.load (i32x4.extract_lane 0 (local.get $keys))))
        (local.set $b (i32.load (i32x4.extract_lane 1 (local.get $keys))))
        (local.set $c (i32.load (i32x4.extract_lane 2 (local.get $keys))))
        (local.set $d (i32.load (i32x4.extract_lane 3 (local.get $keys))))
        (br_if $done (i32.eqz (local.get $a)))
        (br_if $done (i32.eqz (local.get $b)))
        (br_if $done (i32.eqz (local.get $c)))
        (br_if $done (i32.eqz (local.get $d)))
        (i32.store (local.get $row) (i32.sub (local.get $a) (i32.const 1)))
        (i32.store offset=4 (local.get $row) (i32.sub (local.get $b) (i32.const 1)))
        (i32.store offset=8 (local.get $row) (i32.sub (local.get $c) (i32.const 1)))
        (i32.store offset=12 (local.get $row) (i32.sub (local.get $d) (i32.const 1)))
        (local.set $row (i32.add (local.get $row) (i32.const 16)))
        (br $next)))
    (i32.shr_u (local.get $row) (i32.const 2)))

  ;; Adds 1 to lane 0.
  (func (export "addOnes") (param $count i32) (param $at i32) (param $stride i32)
    (local $row i32) (local $end i32) (local $sum i32)
    (local.set $end (i32.shl (local.get $count) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $row) (local.get $end)))
        (local.set $sum (i32.add (local.get $at) (i32.mul (i32.load (local.get $row)) (local.get $stride))))
        (f64.store (local.get $sum) (f64.add (f64.load (local.get $sum)) (f64.const 1)))
        (local.set $row (i32.add (local.get $row) (i32.const 4)))
        (br $next))))

  ;; Adds 1 to lane 0, and the row's integer to lane 1. $unsigned: 1 or 0.
  (func (export "countWords") (param $count i32) (param $at i32) (param $stride i32) (param $unsigned i32)
    (local $row i32) (local $end i32) (local $sum i32) (local $mask i64)
    (local.set $mask (i64.shr_u (i64.const -1) (i64.extend_i32_u (i32.shl (local.get $unsigned) (i32.const 5)))))
    (local.set $end (i32.shl (local.get $count) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $row) (local.get $end)))
        (local.set $sum (i32.add (local.get $at) (i32.mul (i32.load (local.get $row)) (local.get $stride))))
        (v128.store (local.get $sum)
          (f64x2.add (v128.load (local.get $sum))
            (f64x2.replace_lane 1 (v128.const f64x2 1 0)
              (f64.convert_i64_s (i64.and (i64.load32_s offset=16384 (local.get $row)) (local.get $mask))))))
        (local.set $row (i32.add (local.get $row) (i32.const 4)))
        (br $next))))

  ;; Lists the rows whose double × $sign is not at least their group's, which is in lane 0, or whose group has none: 0 in
  ;; lane 1. Rows are listed where words are; answers how many they are.
  (func (export "findBetter") (param $count i32) (param $at i32) (param $stride i32) (param $sign f64) (result i32)
    (local $row i32) (local $value i32) (local $end i32) (local $best i32) (local $out i32)
    (local.set $end (i32.shl (local.get $count) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $row) (local.get $end)))
        (local.set $best (i32.add (local.get $at) (i32.mul (i32.load (local.get $row)) (local.get $stride))))
        (i32.store offset=16384 (local.get $out) (i32.shr_u (local.get $row) (i32.const 2)))
        (local.set $out (i32.add (local.get $out) (i32.shl
          (i32.or
            (i32.eqz (f64.ge
              (f64.mul (f64.load offset=32768 (local.get $value)) (local.get $sign))
              (f64.mul (f64.load (local.get $best)) (local.get $sign))))
            (f64.eq (f64.load offset=8 (local.get $best)) (f64.const 0)))
          (i32.const 2))))
        (local.set $row (i32.add (local.get $row) (i32.const 4)))
        (local.set $value (i32.add (local.get $value) (i32.const 8)))
        (br $next)))
    (i32.shr_u (local.get $out) (i32.const 2)))

  ;; Adds the upper two limbs of a double × $scale: the integer to lane 1, 2^32 times what is left of it, as an integer,
  ;; to lane 0. Two rows a turn; an odd last one needs a 0 behind it. Lists the pairs that leave something, and -1 behind
  ;; them. Answers the sum of magnitudes.
  (func (export "addLimbs") (param $count i32) (param $at i32) (param $stride i32) (param $scale f64) (result f64)
    (local $row i32) (local $value i32) (local $end i32) (local $sum i32) (local $rest i32) (local $restRow i32)
    (local $x v128) (local $whole v128) (local $part v128) (local $size v128)
    (local.set $rest (i32.const 65536))
    (local.set $restRow (i32.const 98304))
        (local.set $end (i32.shl (local.get $count) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $row) (local.get $end)))
        (local.set $x (f64x2.mul (v128.load offset=32768 (local.get $value)) (f64x2.splat (local.get $scale))))
        (local.set $size (f64x2.add (local.get $size) (f64x2.abs (local.get $x))))
        ;; (x + 1.5 × 2^52) - 1.5 × 2^52 is x rounded to an integer
        (local.set $whole (f64x2.sub
          (f64x2.add (local.get $x) (v128.const f64x2 6755399441055744 6755399441055744))
          (v128.const f64x2 6755399441055744 6755399441055744)))
        (local.set $x (f64x2.mul (f64x2.sub (local.get $x) (local.get $whole))
          (v128.const f64x2 4294967296 4294967296)))
        (local.set $part (f64x2.sub
          (f64x2.add (local.get $x) (v128.const f64x2 6755399441055744 6755399441055744))
          (v128.const f64x2 6755399441055744 6755399441055744)))
        (local.set $x (f64x2.sub (local.get $x) (local.get $part)))
        (local.set $sum (i32.add (local.get $at) (i32.mul (i32.load (local.get $row)) (local.get $stride))))
        (v128.store (local.get $sum) (f64x2.add (v128.load (local.get $sum))
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $part) (local.get $whole))))
        (local.set $sum (i32.add (local.get $at) (i32.mul (i32.load offset=4 (local.get $row)) (local.get $stride))))
        (v128.store (local.get $sum) (f64x2.add (v128.load (local.get $sum))
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $part) (local.get $whole))))
        (if (v128.any_true (f64x2.ne (local.get $x) (v128.const f64x2 0 0)))
          (then
            (v128.store (local.get $rest)
              (f64x2.mul (local.get $x) (v128.const f64x2 4294967296 4294967296)))
            (i32.store (local.get $restRow) (i32.shr_u (local.get $row) (i32.const 2)))
            (local.set $rest (i32.add (local.get $rest) (i32.const 16)))
            (local.set $restRow (i32.add (local.get $restRow) (i32.const 4)))))
        (local.set $row (i32.add (local.get $row) (i32.const 8)))
        (local.set $value (i32.add (local.get $value) (i32.const 16)))
        (br $next)))
    (i32.store (local.get $restRow) (i32.const -1))
    (f64.add (f64x2.extract_lane 0 (local.get $size)) (f64x2.extract_lane 1 (local.get $size)))))
